// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A type is to have the entries that gcc -g would give it, no more and no fewer, although
// gcc itself writes no debug information in this compile.
//
// Method. A type is described the first time that something refers to it. A qualified type is
// qualifiers on top of the unqualified one, in the order const, volatile, restrict, unless a
// variant with some of them exists. What was named by a typedef is the typedef, on top of what it
// names.
//
// Invariant. No tree is created or changed here, so that the compile goes on as it would without
// us.
//
// Cost. One step for each reference; structs, unions, enums and prototypes wait in a list, so that
// recursion goes only as deep as pointers, arrays and typedefs nest.
#include "emit/gcc/gcc_headers.h"

#include "emit/gcc/tree_queries.h"
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

/// Some of `quals` that a variant of `type` has: as many as there are. Those made later than
/// `qualified` do not count: gcc did not know them when it described that one.
int nearest_variant(tree type, int quals, tree qualified)
{
    int best = 0, best_count = 0;
    for (tree t = TYPE_MAIN_VARIANT(type); t; t = TYPE_NEXT_VARIANT(t)) {
        if (qualified && TYPE_UID(t) > TYPE_UID(qualified))
            continue;
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
        if ((defined_quals & ~quals) || (defined_quals == quals && original_of(name) != type))
            return type_of(original_of(name), quals);
    }
    if (quals)
        return qualified(type, quals, found);
    // Not `type`, which may have qualifiers.
    return VOID_TYPE_P(type) ? void_type : unqualified(found ? found : TYPE_MAIN_VARIANT(type));
}

TypeNumber TreeReader::type_of_decl(tree decl)
{
    tree type = TREE_TYPE(decl);
    return type_of(type, quals_of_decl(decl) | TYPE_QUALS(type));
}

TypeNumber TreeReader::qualified(tree type, int quals, tree qualified_type)
{
    int have = __builtin_popcount(static_cast<unsigned>(quals)) > 1
                   ? nearest_variant(type, quals, qualified_type)
                   : 0;
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
#if GCCPLUGIN_VERSION_MAJOR >= 14
    if (TREE_CODE(type) == BITINT_TYPE)
        return entries_.bit_precise_type(number, TYPE_PRECISION(type),
                                         kind == BaseKind::unsigned_integer, bytes_of(type));
#endif
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

void TreeReader::declaration_tags(tree attributes)
{
    for (const char *text : texts_of("btf_decl_tag", attributes))
        entries_.declaration_tag(text);
}

} // namespace btflink::emit::gcc
