// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The types of an object are to be those that gcc -g would describe, no more and no fewer,
// although gcc itself writes no debug information in this compile.
//
// Method. gcc's writer of DWARF begins at the variables and functions of the unit, and drops types
// that nothing refers to from there. The same roots are walked here, by the same rules:
// - variables outside functions that are defined, or declared and used; each with the type that it
// had
//   when it was declared, and with that of its definition;
// - functions that are defined or called: results, parameters, and at any depth local variables and
//   local declarations;
// - types that a function or a defined variable names in a cast, in sizeof or by an enumerator;
// - base types of all types that are declared outside functions, used or not: gcc never drops them.
// A qualified type is described as qualifiers on top of the unqualified one, in the order const,
// volatile, restrict, unless a variant with some of them exists.
//
// Invariant. No tree is created or changed here, so that the compile goes on as it would without
// us.
//
// Cost. One step for each reference; structs, unions, enums and prototypes wait in a list, so that
// recursion goes only as deep as pointers, arrays and typedefs nest.
#include "emit/gcc/gcc_headers.h"

#include "emit/gcc/trees.h"

namespace btflink::emit::gcc
{

namespace
{

constexpr int known_quals =
    TYPE_QUAL_CONST | TYPE_QUAL_VOLATILE | TYPE_QUAL_RESTRICT | TYPE_QUAL_ATOMIC;

struct Qualifier {
    int bit;
    Modifier modifier;
};
constexpr Qualifier qualifiers[] = {
    {TYPE_QUAL_CONST, Modifier::constant},
    {TYPE_QUAL_VOLATILE, Modifier::is_volatile},
    {TYPE_QUAL_RESTRICT, Modifier::restricted},
    {TYPE_QUAL_ATOMIC, Modifier::atomic},
};

bool is_base(tree type)
{
    switch (TREE_CODE(type)) {
    case INTEGER_TYPE:
    case REAL_TYPE:
    case FIXED_POINT_TYPE:
    case COMPLEX_TYPE:
    case BOOLEAN_TYPE:
#if GCCPLUGIN_VERSION_MAJOR >= 14
    case BITINT_TYPE:
#endif
        return true;
    default:
        return false;
    }
}

const char *text_of(tree identifier)
{
    return identifier ? IDENTIFIER_POINTER(identifier) : nullptr;
}

/// The name of a decl or a type, where it has one.
const char *name_of(tree decl)
{
    return text_of(DECL_NAME(decl));
}
const char *type_name(tree type)
{
    tree name = TYPE_NAME(type);
    if (name && TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    return text_of(name);
}

/// Constant, or -1.
int64_t constant(tree value)
{
    return value && TREE_CODE(value) == INTEGER_CST && tree_fits_shwi_p(value) ? tree_to_shwi(value)
                                                                               : -1;
}

/// 0 if it is known at run time only.
uint64_t bytes_of(tree type)
{
    const HOST_WIDE_INT size = int_size_in_bytes(type);
    return size > 0 ? static_cast<uint64_t>(size) : 0;
}

/// What the declaration of `decl` adds to its type.
int quals_of_decl(tree decl)
{
    return (TREE_READONLY(decl) && TREE_CODE(TREE_TYPE(decl)) != REFERENCE_TYPE ? TYPE_QUAL_CONST
                                                                                : 0) |
           (TREE_THIS_VOLATILE(decl) ? TYPE_QUAL_VOLATILE : 0);
}

/// Some of `quals` that a variant of `type` has: as many as there are.
int nearest_variant(tree type, int quals)
{
    int best = 0, best_count = 0;
    for (tree t = TYPE_MAIN_VARIANT(type); t; t = TYPE_NEXT_VARIANT(t)) {
        const int q = TYPE_QUALS(t) & known_quals;
        const int count = __builtin_popcount(static_cast<unsigned>(q));
        if ((q & quals) == q && q != quals && count > best_count && check_base_type(t, type)) {
            best = q;
            best_count = count;
        }
    }
    return best;
}

/// The arguments of attributes of gcc 16 and later that are called `attribute`, in the source's
/// order.
std::vector<const char *> texts_of(const char *attribute, tree attributes)
{
    std::vector<const char *> texts;
    for (tree a = lookup_attribute(attribute, attributes); a;
         a = lookup_attribute(attribute, TREE_CHAIN(a)))
        if (tree value = TREE_VALUE(a); value && TREE_CODE(TREE_VALUE(value)) == STRING_CST)
            texts.push_back(TREE_STRING_POINTER(TREE_VALUE(value)));
    std::reverse(texts.begin(), texts.end()); // the last one comes first
    return texts;
}

/// gcc's own name for size_t's type is nobody's.
tree without_sizetype(tree type)
{
    if (type != sizetype)
        return type;
    tree name = TYPE_NAME(type);
    return name && TREE_CODE(name) == TYPE_DECL ? TREE_TYPE(name) : size_type_node;
}

} // namespace

/// What the typedef `decl` names; null: it is no typedef of the source's. gcc forgets the type when
/// the typedef is declared once more; of an array its DWARF then has no typedef, either.
tree TreeReader::original_of(tree decl) const
{
    if (DECL_ORIGINAL_TYPE(decl) || DECL_ARTIFICIAL(decl))
        return DECL_ORIGINAL_TYPE(decl);
    auto found = std::lower_bound(originals_.begin(), originals_.end(), DECL_UID(decl),
                                  [](const Original &o, uint32_t uid) { return o.uid < uid; });
    return found != originals_.end() && found->uid == DECL_UID(decl) ? found->type : NULL_TREE;
}

/// The typedef that gave `type` its name, if one did.
tree TreeReader::typedef_of(tree type) const
{
    tree name = type ? TYPE_NAME(type) : NULL_TREE;
    return name && TREE_CODE(name) == TYPE_DECL && !DECL_ARTIFICIAL(name) && original_of(name)
               ? name
               : NULL_TREE;
}

TypeNumber &TreeReader::known(tree type)
{
    const size_t uid = TYPE_UID(type);
    if (uid >= numbers_.size())
        numbers_.resize(uid + 1);
    return numbers_[uid];
}

TypeNumber TreeReader::type_of(tree type, int quals)
{
    if (!type || type == error_mark_node)
        return void_type;
    quals &= known_quals;
    tree found = (TYPE_QUALS(type) & known_quals) == quals ? type : get_qualified_type(type, quals);
    if (found) {
        if (found == sizetype)
            found = without_sizetype(found);
        if (const TypeNumber number = known(found); number != void_type)
            return number;
        if (type == sizetype)
            type = found;
    }
    if (tree name = typedef_of(found)) {
        tree defined = TREE_TYPE(name);
        if (found == defined)
            return named(name);
        const int defined_quals = TYPE_QUALS(defined) & known_quals;
        // A variant without the typedef's own qualifiers, or with other attributes, is not the
        // typedef.
        if ((defined_quals & ~quals) ||
            (defined_quals == quals && original_of(name) != type))
            return type_of(original_of(name), quals);
    }
    if (quals)
        return qualified(type, quals, found);
    return VOID_TYPE_P(type) ? void_type : unqualified(type);
}

TypeNumber TreeReader::type_of_decl(tree decl)
{
    tree type = TREE_TYPE(decl);
    return type_of(type, quals_of_decl(decl) | TYPE_QUALS(type));
}

TypeNumber TreeReader::qualified(tree type, int quals, tree qualified_type)
{
    int have =
        __builtin_popcount(static_cast<unsigned>(quals)) > 1 ? nearest_variant(type, quals) : 0;
    tree base = type;
#if GCCPLUGIN_VERSION_MAJOR >= 16
    // Of an array, earlier versions describe the typedef only where nothing qualifies it.
    if (TREE_CODE(type) == ARRAY_TYPE && typedef_of(type))
        base = TREE_TYPE(typedef_of(type));
#endif
    TypeNumber number = type_of(base, have);
    for (const Qualifier &q : qualifiers)
        if (quals & ~have & q.bit) {
            const TypeNumber target = number;
            number = entries_.new_type();
            entries_.modifier(number, q.modifier, target);
        }
    if (qualified_type)
        known(qualified_type) = number;
    return number;
}

TypeNumber TreeReader::unqualified(tree type)
{
    switch (TREE_CODE(type)) {
    case POINTER_TYPE:
    case REFERENCE_TYPE:
        return pointer(type);
    case ARRAY_TYPE:
    case VECTOR_TYPE:
        return array(type);
    case RECORD_TYPE:
    case UNION_TYPE:
    case ENUMERAL_TYPE:
    case FUNCTION_TYPE: {
        const TypeNumber number = later(TYPE_MAIN_VARIANT(type));
        known(type) = number;
        return number;
    }
    default:
        break;
    }
    if (is_base(type)) {
        // An integer type of gcc's own that stands for part of another.
        if (TREE_CODE(type) == INTEGER_TYPE && TREE_TYPE(type) && !TYPE_NAME(type))
            return type_of(TREE_TYPE(type), 0);
        const TypeNumber number = entries_.new_type();
        known(type) = number;
        base(type, number);
        return number;
    }
    const TypeNumber number = entries_.new_type();
    known(type) = number;
    if (const char *name = type_name(type);
        name && std::string(name).find("nullptr") != std::string::npos)
        entries_.null_pointer(number, name);
    return number;
}

TypeNumber TreeReader::named(tree name)
{
    tree type = TREE_TYPE(name);
    const TypeNumber number = entries_.new_type();
    known(type) = number;
    tree original = original_of(name);
    const TypeNumber target = type_of(original, quals_of_decl(name) | TYPE_QUALS(original));
    entries_.type_definition(number, name_of(name), target);
    declaration_tags(DECL_ATTRIBUTES(name));
    return number;
}

TypeNumber TreeReader::pointer(tree type)
{
    const TypeNumber number = entries_.new_type();
    known(type) = number; // before its target, which may be a struct that has this pointer
    const TypeNumber to = type_of(TREE_TYPE(type));
    entries_.modifier(
        number, TREE_CODE(type) == POINTER_TYPE ? Modifier::pointer : Modifier::reference, to);
    for (const char *text : texts_of("btf_type_tag", TYPE_ATTRIBUTES(type)))
        entries_.pointer_tag(text);
    return number;
}

/// All dimensions are one entry, as in gcc's DWARF, typedefs of arrays among them.
TypeNumber TreeReader::array(tree type)
{
    const TypeNumber number = entries_.new_type();
    known(type) = number;
    std::vector<uint64_t> counts;
    tree element = type;
    if (TREE_CODE(type) == VECTOR_TYPE) {
        const HOST_WIDE_INT whole = int_size_in_bytes(type),
                            part = int_size_in_bytes(TREE_TYPE(type));
        counts.push_back(whole > 0 && part > 0 ? static_cast<uint64_t>(whole / part) : 0);
        element = TREE_TYPE(type);
    } else {
        for (; TREE_CODE(element) == ARRAY_TYPE; element = TREE_TYPE(element)) {
            tree domain = TYPE_DOMAIN(element);
            const int64_t last = domain ? constant(TYPE_MAX_VALUE(domain)) : -1;
            counts.push_back(static_cast<uint64_t>(last + 1));
            if (domain && TREE_TYPE(domain))
                type_of(TREE_TYPE(domain), 0); // what the bounds are of
        }
    }
    const TypeNumber of = type_of(element);
    entries_.array(number, of, counts.data(), static_cast<unsigned>(counts.size()));
    return number;
}

TypeNumber TreeReader::later(tree type)
{
    TypeNumber &number = known(type);
    if (number == void_type) {
        number = entries_.new_type();
        waiting_.push_back(type);
    }
    return number;
}

void TreeReader::base(tree type, TypeNumber number)
{
    BaseKind kind = BaseKind::other;
    switch (TREE_CODE(type)) {
    case BOOLEAN_TYPE:
        kind = BaseKind::boolean;
        break;
    case REAL_TYPE:
        kind = DECIMAL_FLOAT_MODE_P(TYPE_MODE(type)) ? BaseKind::other : BaseKind::floating;
        break;
    case COMPLEX_TYPE:
        break;
    default:
        kind = TYPE_UNSIGNED(type) ? BaseKind::unsigned_integer : BaseKind::signed_integer;
        break;
    }
    const char *name = type_name(type);
    entries_.base_type(number, name ? name : "__unknown__", kind, bytes_of(type));
}

void TreeReader::describe(tree type)
{
    const TypeNumber number = known(type);
    switch (TREE_CODE(type)) {
    case ENUMERAL_TYPE:
        return enumeration(type, number);
    case FUNCTION_TYPE:
        return prototype(type, number);
    default:
        return composite(type, number);
    }
}

void TreeReader::composite(tree type, TypeNumber number)
{
    const bool is_union = TREE_CODE(type) == UNION_TYPE;
    if (!TYPE_SIZE(type))
        return entries_.forward(number, is_union, type_name(type));
    struct Member {
        tree field;
        TypeNumber type;
    };
    std::vector<Member> members;
    for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field)) {
        if (TREE_CODE(field) != FIELD_DECL || DECL_IGNORED_P(field))
            continue;
        tree of = DECL_BIT_FIELD_TYPE(field) ? DECL_BIT_FIELD_TYPE(field) : TREE_TYPE(field);
        if (!DECL_NAME(field) && TREE_CODE(of) != UNION_TYPE && TREE_CODE(of) != RECORD_TYPE)
            continue; // bits that are only skipped
        members.push_back({field, type_of(of, quals_of_decl(field) | TYPE_QUALS(of))});
    }
    entries_.begin_composite(number, is_union, type_name(type), bytes_of(type));
    for (const Member &m : members) {
        MemberPlace place;
        const int64_t byte = constant(DECL_FIELD_OFFSET(m.field)),
                      bit = constant(DECL_FIELD_BIT_OFFSET(m.field));
        if (byte >= 0 && bit >= 0)
            place.bit_offset = static_cast<uint64_t>(byte) * 8 + static_cast<uint64_t>(bit);
        if (DECL_BIT_FIELD_TYPE(m.field))
            place.bit_size = static_cast<uint32_t>(constant(DECL_SIZE(m.field)));
        entries_.member(name_of(m.field), m.type, place);
        declaration_tags(DECL_ATTRIBUTES(m.field));
    }
    entries_.end();
}

void TreeReader::enumeration(tree type, TypeNumber number)
{
    if (!TYPE_SIZE(type))
        return entries_.forward_enum(number, type_name(type));
    tree underlying = lang_hooks.types.enum_underlying_base_type(type);
    const TypeNumber of = type_of(underlying, 0);
    entries_.begin_enum(number, type_name(type), bytes_of(type), of);
    for (tree link = TYPE_VALUES(type); link; link = TREE_CHAIN(link)) {
        tree value = TREE_VALUE(link);
        if (TREE_CODE(value) == CONST_DECL)
            value = DECL_INITIAL(value);
        if (TREE_CODE(value) != INTEGER_CST)
            continue;
        const auto low = static_cast<HOST_WIDE_INT>(TREE_INT_CST_LOW(value));
        entries_.enumerator(text_of(TREE_PURPOSE(link)), static_cast<uint64_t>(low),
                            !TYPE_UNSIGNED(TREE_TYPE(value)) && low < 0);
    }
    entries_.end();
}

void TreeReader::prototype(tree type, TypeNumber number)
{
    const TypeNumber result = type_of(TREE_TYPE(type));
    std::vector<TypeNumber> types;
    tree link = TYPE_ARG_TYPES(type);
    for (; link && !VOID_TYPE_P(TREE_VALUE(link)); link = TREE_CHAIN(link))
        types.push_back(type_of(TREE_VALUE(link)));
    entries_.begin_prototype(number, result);
    for (TypeNumber t : types)
        entries_.prototype_parameter(t);
    if (!link)
        entries_.prototype_is_variadic();
    entries_.end();
}

/// `type` is declared outside functions, so the base types in it stay.
void TreeReader::note_base(tree type)
{
    while (type && (POINTER_TYPE_P(type) || TREE_CODE(type) == ARRAY_TYPE ||
                    TREE_CODE(type) == VECTOR_TYPE))
        type = TREE_TYPE(type);
    if (!type || !is_base(type))
        return;
    type = TYPE_MAIN_VARIANT(type);
    if (TYPE_NAME(type) && std::find(bases_.begin(), bases_.end(), type) == bases_.end())
        bases_.push_back(type);
}

void TreeReader::note_fields(tree type)
{
    if (TREE_CODE(type) == RECORD_TYPE || TREE_CODE(type) == UNION_TYPE)
        for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field))
            if (TREE_CODE(field) == FIELD_DECL && (DECL_NAME(field) || !DECL_BIT_FIELD_TYPE(field)))
                note_base(DECL_BIT_FIELD_TYPE(field) ? DECL_BIT_FIELD_TYPE(field)
                                                     : TREE_TYPE(field));
}

void TreeReader::declared_type(tree decl)
{
    if (TREE_CODE(decl) != TYPE_DECL || TREE_TYPE(decl) == error_mark_node)
        return;
    tree original = DECL_ORIGINAL_TYPE(decl);
    if (!original)
        return note_fields(TREE_TYPE(decl));
    note_base(original);
    if (TREE_CODE(original) != ARRAY_TYPE &&
        (originals_.empty() || originals_.back().uid < DECL_UID(decl)))
        originals_.push_back({DECL_UID(decl), original});
}

/// Only the first declaration and the first definition count. What later ones add to the type, such
/// as the size of an array, gcc does not describe.
void TreeReader::declared_variable(tree decl)
{
    const bool defines = !DECL_EXTERNAL(decl);
    auto [found, is_new] = defined_.try_emplace(DECL_UID(decl), defines);
    if (!is_new && (found->second || !defines))
        return;
    found->second = defines;
    tree type = TREE_TYPE(decl);
    variables_.push_back({decl, type, quals_of_decl(decl) | TYPE_QUALS(type), defines});
}

void TreeReader::prototype_types(tree type)
{
    type_of(TREE_TYPE(type));
    for (tree link = TYPE_ARG_TYPES(type); link && !VOID_TYPE_P(TREE_VALUE(link));
         link = TREE_CHAIN(link))
        type_of(TREE_VALUE(link));
}

void TreeReader::parameters(tree decl)
{
    for (tree p = DECL_ARGUMENTS(decl); p; p = DECL_CHAIN(p)) {
        if (DECL_IGNORED_P(p))
            continue;
        entries_.parameter(DECL_UID(p), name_of(p), type_of_decl(p));
        declaration_tags(DECL_ATTRIBUTES(p));
    }
}

void TreeReader::function(tree decl)
{
    if (DECL_IGNORED_P(decl))
        return;
    tree body = DECL_INITIAL(decl);
    tree type = TREE_TYPE(decl);
    if (!body || DECL_EXTERNAL(decl) || TREE_CODE(body) != BLOCK)
        prototype_types(type);
    if (!body || TREE_CODE(body) != BLOCK || entries_.has_function(DECL_UID(decl)))
        return;
    entries_.begin_function(DECL_UID(decl), name_of(decl), TREE_PUBLIC(decl),
                            type_of(TREE_TYPE(type)));
    declaration_tags(DECL_ATTRIBUTES(decl));
    parameters(decl);
    if (prototype_p(type) && stdarg_p(type))
        entries_.function_is_variadic();
    block(body);
    std::vector<tree> used;
    if (struct function *own = DECL_STRUCT_FUNCTION(decl); own && own->used_types_hash)
        for (auto at = own->used_types_hash->begin(); at != own->used_types_hash->end(); ++at)
            used.push_back(*at);
    used_types(std::move(used));
}

void TreeReader::local(tree decl)
{
    if (DECL_IGNORED_P(decl))
        return;
    switch (TREE_CODE(decl)) {
    case VAR_DECL:
    case RESULT_DECL:
        type_of_decl(decl);
        break;
    case FUNCTION_DECL:
        prototype_types(TREE_TYPE(decl));
        break;
    default:
        break;
    }
}

void TreeReader::block(tree block)
{
    for (tree decl = BLOCK_VARS(block); decl; decl = DECL_CHAIN(decl))
        local(decl);
    for (tree inner = BLOCK_SUBBLOCKS(block); inner; inner = BLOCK_CHAIN(inner))
        this->block(inner);
}

/// gcc marks more than these, but only these are described by then. A typedef with qualifiers is
/// not, unless something else has its type. gcc's tables are in the order of addresses, which
/// differ from run to run.
void TreeReader::used_types(std::vector<tree> types)
{
    std::erase_if(types, [](tree t) { return !t || !TYPE_P(t); });
    std::sort(types.begin(), types.end(), [](tree a, tree b) { return TYPE_UID(a) < TYPE_UID(b); });
    for (tree type : types)
        if (tree name = typedef_of(type);
            name ? TREE_TYPE(name) == type
                 : RECORD_OR_UNION_TYPE_P(type) || TREE_CODE(type) == ENUMERAL_TYPE)
            type_of(type);
}

void TreeReader::finish()
{
    for (const Declared &v : variables_) {
        if (DECL_IGNORED_P(v.decl) || (TREE_PUBLIC(v.decl) && !varpool_node::get(v.decl)))
            continue;
        const TypeNumber type = type_of(v.type, v.quals);
        if (!v.defines || DECL_EXTERNAL(v.decl) || !TREE_STATIC(v.decl) ||
            DECL_HARD_REGISTER(v.decl) || DECL_THREAD_LOCAL_P(v.decl))
            continue;
        const bool is_new = !entries_.has_variable(DECL_UID(v.decl));
        entries_.variable(DECL_UID(v.decl), name_of(v.decl), type, TREE_PUBLIC(v.decl));
        if (is_new)
            declaration_tags(DECL_ATTRIBUTES(v.decl));
    }
    std::vector<tree> used;
    if (types_used_by_vars_hash)
        for (auto at = types_used_by_vars_hash->begin(); at != types_used_by_vars_hash->end(); ++at)
            if (varpool_node *node = varpool_node::get((*at)->var_decl); node && node->definition)
                used.push_back((*at)->type);
    used_types(std::move(used));
    for (tree type : bases_)
        type_of(type, 0);
    for (size_t i = 0; i < waiting_.size(); ++i) // describing one may add others
        describe(waiting_[i]);
    waiting_.clear();
    variables_.clear();
    originals_.clear();
    bases_.clear();
}

void TreeReader::declaration_tags(tree attributes)
{
    for (const char *text : texts_of("btf_decl_tag", attributes))
        entries_.declaration_tag(text);
}

void TreeReader::mark() const
{
    auto keep = [](tree t) {
        if (t && ggc_marked_p(t) == 0)
            gt_ggc_mx_tree_node(t);
    };
    for (const Declared &v : variables_) {
        keep(v.decl);
        keep(v.type);
    }
    for (const Original &o : originals_)
        keep(o.type);
    for (tree type : bases_)
        keep(type);
    for (tree type : waiting_)
        keep(type);
}

} // namespace btflink::emit::gcc
