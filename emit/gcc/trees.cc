// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Translates gcc's trees of types to entries.
//
// Problem. Each type must get exactly the entries that gcc -g would give it, although gcc makes no
// debug information in this compile.
//
// Method. The first reference to a type adds it. The rules are those of gcc's modified_type_die():
// a qualified type is a chain of qualifiers (const, volatile, restrict, _Atomic) on top of the
// unqualified type, or on top of the existing variant that has the most of these qualifiers. A type
// with a typedef name is the typedef, on top of the type that the typedef names.
//
// Invariant. No tree is created. Only the order of a type's variants may change, by
// get_qualified_type(), which gcc -g calls, too. So gcc generates the same code as without the
// plugin.
//
// Cost. One step per reference; a walk over the variants of a type if the reference needs other
// qualifiers than the tree has; another walk if it needs more than one qualifier and the variant
// has no number yet. Structs, unions, enums and prototypes wait in a list, so recursion is only as
// deep as pointers, arrays and typedefs nest.
#include "emit/gcc/trees.h"

namespace btflink::emit::gcc
{

namespace
{

constexpr int known_quals =
    TYPE_QUAL_CONST | TYPE_QUAL_VOLATILE | TYPE_QUAL_RESTRICT | TYPE_QUAL_ATOMIC;

struct Qualifier {
    int bit;
    Kind kind;
};
constexpr Qualifier qualifiers[] = {
    {TYPE_QUAL_CONST, Kind::const_type},
    {TYPE_QUAL_VOLATILE, Kind::volatile_type},
    {TYPE_QUAL_RESTRICT, Kind::restrict_type},
    {TYPE_QUAL_ATOMIC, Kind::atomic_type},
};

int count_of(int quals)
{
    return __builtin_popcount(static_cast<unsigned>(quals));
}

/// The largest proper subset of `quals` with which a variant of `type` exists. `qualified`: the
/// variant with all of `quals`, or null. Variants made later than `qualified` do not count, because
/// gcc -g has usually described `qualified` before it makes them (README.md has the exception).
int nearest_variant(tree type, int quals, tree qualified)
{
    int best = 0;
    for (tree t = TYPE_MAIN_VARIANT(type); t; t = TYPE_NEXT_VARIANT(t)) {
        if (qualified && TYPE_UID(t) > TYPE_UID(qualified))
            continue;
        const int q = TYPE_QUALS(t) & known_quals;
        if ((q & quals) == q && q != quals && count_of(q) > count_of(best) &&
            check_base_type(t, type))
            best = q;
    }
    return best;
}

/// The string arguments of all attributes called `name`, in source order.
std::vector<const char *> attribute_texts(const char *name, tree attributes)
{
    std::vector<const char *> texts;
    for (tree a = lookup_attribute(name, attributes); a; a = lookup_attribute(name, TREE_CHAIN(a)))
        if (tree value = TREE_VALUE(a); value && TREE_CODE(TREE_VALUE(value)) == STRING_CST)
            texts.push_back(TREE_STRING_POINTER(TREE_VALUE(value)));
    std::reverse(texts.begin(), texts.end()); // gcc chains the last one first
    return texts;
}

/// gcc's DWARF describes sizetype, a type internal to gcc, as the type of size_t.
tree without_sizetype(tree type)
{
    if (type != sizetype)
        return type;
    tree name = TYPE_NAME(type);
    return name && TREE_CODE(name) == TYPE_DECL ? TREE_TYPE(name) : size_type_node;
}

/// gcc stores the highest index of an array, not the length. constant_value() is -1 for an empty
/// array and for an unknown length, so both count as 0 elements.
uint64_t element_count(tree array)
{
    tree domain = TYPE_DOMAIN(array);
    const int64_t last = domain ? constant_value(TYPE_MAX_VALUE(domain)) : -1;
    return static_cast<uint64_t>(last + 1);
}

uint64_t element_count_of_vector(tree vector)
{
    const HOST_WIDE_INT whole = int_size_in_bytes(vector),
                        part = int_size_in_bytes(TREE_TYPE(vector));
    return whole > 0 && part > 0 ? static_cast<uint64_t>(whole / part) : 0;
}

BaseKind base_kind(tree type)
{
    switch (TREE_CODE(type)) {
    case BOOLEAN_TYPE:
        return BaseKind::boolean;
    case REAL_TYPE:
        return DECIMAL_FLOAT_MODE_P(TYPE_MODE(type)) ? BaseKind::other : BaseKind::floating;
    case COMPLEX_TYPE:
    case FIXED_POINT_TYPE:
        return BaseKind::other;
    default:
        return TYPE_UNSIGNED(type) ? BaseKind::unsigned_integer : BaseKind::signed_integer;
    }
}

/// Is the field a member? An unnamed bitfield is only padding, but an unnamed struct or union is a
/// member.
bool is_member(tree field)
{
    if (TREE_CODE(field) != FIELD_DECL || DECL_IGNORED_P(field))
        return false;
    const tree_code code = TREE_CODE(field_type(field));
    return DECL_NAME(field) || code == UNION_TYPE || code == RECORD_TYPE;
}

/// The entry of a member. The caller sets Entry::type.
Entry member_entry(tree field)
{
    Entry member{.kind = Kind::member, .name = decl_name(field)};
    const int64_t byte = constant_value(DECL_FIELD_OFFSET(field)),
                  bit = constant_value(DECL_FIELD_BIT_OFFSET(field));
    if (byte >= 0 && bit >= 0)
        member.value = static_cast<uint64_t>(byte) * 8 + static_cast<uint64_t>(bit);
    if (DECL_BIT_FIELD_TYPE(field))
        member.bit_size = static_cast<uint32_t>(constant_value(DECL_SIZE(field)));
    return member;
}

} // namespace

/// The type that the typedef `decl` names; null for a TYPE_DECL that is not a typedef in the
/// source. gcc clears DECL_ORIGINAL_TYPE when the typedef is declared again, so `originals_` keeps
/// the type. `originals_` has no array types, because a repeated typedef of an array has no entry
/// in gcc's DWARF.
tree TreeReader::original_of(tree decl) const
{
    if (DECL_ORIGINAL_TYPE(decl) || DECL_ARTIFICIAL(decl))
        return DECL_ORIGINAL_TYPE(decl);
    auto found = std::lower_bound(originals_.begin(), originals_.end(), DECL_UID(decl),
                                  [](const Original &o, uint32_t uid) { return o.uid < uid; });
    return found != originals_.end() && found->uid == DECL_UID(decl) ? found->type : NULL_TREE;
}

/// The typedef that gave `type` its name, or null.
tree TreeReader::typedef_of(tree type) const
{
    tree name = type ? TYPE_NAME(type) : NULL_TREE;
    return name && TREE_CODE(name) == TYPE_DECL && !DECL_ARTIFICIAL(name) && original_of(name)
               ? name
               : NULL_TREE;
}

/// The place of a type's number; void_type is stored there if the type has no number yet.
TypeNumber &TreeReader::number_of(tree type)
{
    const size_t uid = TYPE_UID(type);
    if (uid >= numbers_.size())
        numbers_.resize(uid + 1);
    return numbers_[uid];
}

TypeNumber TreeReader::new_type(tree type)
{
    return number_of(type) = entries_.new_type();
}

/// Describes `variant`, the variant of `type` with `quals`, whose name is that of a typedef:
///  - as the typedef, if it is the type that the typedef declares; from gcc 16 on also if it has
///    the same qualifiers as this type, and `type` has no btf_type_tag;
///  - otherwise as the type behind the typedef, if it lacks a qualifier of the declared type, or if
///    it has the same qualifiers and `type` is not the type behind the typedef (so `variant`
///    differs otherwise, for example in attributes);
///  - otherwise not at all: returns nothing, and the caller describes `type` with `quals`.
std::optional<TypeNumber> TreeReader::type_by_typedef(tree type, int quals, tree variant)
{
    tree decl = typedef_of(variant), defined = TREE_TYPE(decl);
    if (variant == defined)
        return add_typedef(decl);
#if GCCPLUGIN_VERSION_MAJOR >= 16
    // `variant` is the typedef with an attribute such as ms_abi. gcc has described it as the
    // typedef since September 2026 (GCC PR125421). Earlier versions of gcc 16 do not: see
    // README.md.
    if (TYPE_QUALS(variant) == TYPE_QUALS(defined) &&
        !lookup_attribute("btf_type_tag", TYPE_ATTRIBUTES(type)))
        return number_of(variant) = type_of(defined, quals);
#endif
    const int defined_quals = TYPE_QUALS(defined) & known_quals;
    const bool lacks_qualifier = defined_quals & ~quals;
    const bool has_other_attributes = defined_quals == quals && original_of(decl) != type;
    if (lacks_qualifier || has_other_attributes)
        return type_of(original_of(decl), quals);
    return std::nullopt;
}

/// The number of the type that is `type` with exactly the qualifiers `quals`. Adds this type if it
/// has no number yet. A type in another address space (x86's __seg_gs) is described as if it were
/// in the usual one.
TypeNumber TreeReader::type_of(tree type, int quals)
{
    if (!type || type == error_mark_node)
        return void_type;
    quals &= known_quals;
    tree variant = TYPE_QUALS(type) == quals ? type : get_qualified_type(type, quals);
    if (variant) {
        variant = without_sizetype(variant);
        if (const TypeNumber number = number_of(variant); number != void_type)
            return number;
        if (type == sizetype)
            type = variant;
    }
    if (typedef_of(variant))
        if (const auto number = type_by_typedef(type, quals, variant))
            return *number;
    if (quals)
        return add_qualified(type, quals, variant);
    // add_unqualified() must not get `type`, which may have qualifiers that `quals` lacks.
    return VOID_TYPE_P(type) ? void_type
                             : add_unqualified(variant ? variant : TYPE_MAIN_VARIANT(type));
}

TypeNumber TreeReader::type_of_decl(tree decl)
{
    tree type = TREE_TYPE(decl);
    return type_of(type, decl_quals(decl) | TYPE_QUALS(type));
}

/// Like type_of(), for the type that a typedef names, and for the result of a function. There gcc's
/// add_type_attribute() describes void without its qualifiers and typedefs.
TypeNumber TreeReader::type_or_void(tree type, int quals)
{
    return type && VOID_TYPE_P(type) ? void_type : type_of(type, quals);
}

TypeNumber TreeReader::result_of(tree function_type)
{
    tree result = TREE_TYPE(function_type);
    return type_or_void(result, TYPE_QUALS(result));
}

/// `qualified_type`: the variant of `type` with `quals`, or null.
TypeNumber TreeReader::add_qualified(tree type, int quals, tree qualified_type)
{
    const int have = count_of(quals) > 1 ? nearest_variant(type, quals, qualified_type) : 0;
    tree base = type;
#if GCCPLUGIN_VERSION_MAJOR >= 16
    // For an array that a typedef names, gcc 16 puts the qualifiers on top of the typedef. Earlier
    // versions put them on top of the array.
    if (TREE_CODE(type) == ARRAY_TYPE && typedef_of(type))
        base = TREE_TYPE(typedef_of(type));
#endif
    TypeNumber number = type_of(base, have);
    for (const Qualifier &q : qualifiers)
        if (quals & ~have & q.bit) {
            const TypeNumber target = number;
            number = entries_.new_type();
            entries_.add(number, {.kind = q.kind, .type = target});
        }
    if (qualified_type)
        number_of(qualified_type) = number;
    return number;
}

TypeNumber TreeReader::add_unqualified(tree type)
{
    switch (TREE_CODE(type)) {
    case POINTER_TYPE:
    case REFERENCE_TYPE:
        return add_pointer(type);
    case ARRAY_TYPE:
    case VECTOR_TYPE:
        return add_array(type);
    case RECORD_TYPE:
    case UNION_TYPE:
    case ENUMERAL_TYPE:
    case FUNCTION_TYPE:
        return number_of(type) = add_waiting(TYPE_MAIN_VARIANT(type));
    default:
        break;
    }
    if (is_base_type(type))
        return add_base_type(type);
    // Of the remaining types, only C23's nullptr_t is described. The others are void.
    const TypeNumber number = new_type(type);
    if (const char *name = type_name(type);
        name && std::string(name).find("nullptr") != std::string::npos)
        entries_.add(number, {.kind = Kind::null_pointer, .name = name});
    return number;
}

TypeNumber TreeReader::add_typedef(tree decl)
{
    const TypeNumber number = new_type(TREE_TYPE(decl));
    tree original = original_of(decl);
    const TypeNumber target = type_or_void(original, decl_quals(decl) | TYPE_QUALS(original));
    entries_.add(number, {.kind = Kind::typedef_type, .name = decl_name(decl), .type = target});
    add_decl_tags(DECL_ATTRIBUTES(decl));
    return number;
}

TypeNumber TreeReader::add_pointer(tree type)
{
    const TypeNumber number = new_type(type);
    const TypeNumber target = type_of(TREE_TYPE(type));
    const Kind kind = TREE_CODE(type) == POINTER_TYPE ? Kind::pointer_type : Kind::reference_type;
    entries_.add(number, {.kind = kind, .type = target});
    for (const char *text : attribute_texts("btf_type_tag", TYPE_ATTRIBUTES(type)))
        entries_.tag("btf_type_tag", text);
    return number;
}

/// One entry has all dimensions, as in gcc's DWARF, including those that come from typedefs of
/// arrays.
TypeNumber TreeReader::add_array(tree type)
{
    const TypeNumber number = new_type(type);
    std::vector<uint64_t> counts;
    tree element = type;
    if (TREE_CODE(type) == VECTOR_TYPE) {
        counts.push_back(element_count_of_vector(type));
        element = TREE_TYPE(type);
    }
    for (; TREE_CODE(element) == ARRAY_TYPE; element = TREE_TYPE(element)) {
        counts.push_back(element_count(element));
        if (tree domain = TYPE_DOMAIN(element); domain && TREE_TYPE(domain))
            type_of(TREE_TYPE(domain), 0); // gcc's DWARF has the type of the bounds, too
    }
    const TypeNumber element_type = type_of(element);
    entries_.begin(number, {.kind = Kind::array_type, .type = element_type});
    for (uint64_t count : counts)
        entries_.part({.kind = Kind::subrange, .value = count});
    entries_.end();
    return number;
}

TypeNumber TreeReader::add_base_type(tree type)
{
    // A nameless integer type with a TREE_TYPE is a subrange of that type, made by gcc.
    if (TREE_CODE(type) == INTEGER_TYPE && TREE_TYPE(type) && !TYPE_NAME(type))
        return type_of(TREE_TYPE(type), 0);
    const TypeNumber number = new_type(type);
    const char *name = type_name(type);
    Entry entry{.kind = Kind::base_type, .name = name ? name : "__unknown__"};
    entry.bytes = size_in_bytes_of(type);
    entry.base = base_kind(type);
#if GCCPLUGIN_VERSION_MAJOR >= 14
    if (TREE_CODE(type) == BITINT_TYPE)
        entry.bit_size = TYPE_PRECISION(type);
#endif
    entries_.add(number, entry);
    return number;
}

TypeNumber TreeReader::add_waiting(tree type)
{
    if (const TypeNumber number = number_of(type); number != void_type)
        return number;
    waiting_.push_back(type);
    return new_type(type);
}

void TreeReader::describe(tree type)
{
    const TypeNumber number = number_of(type);
    switch (TREE_CODE(type)) {
    case ENUMERAL_TYPE:
        return describe_enum(type, number);
    case FUNCTION_TYPE:
        return describe_prototype(type, number);
    default:
        return describe_composite(type, number);
    }
}

// The types of members and parameters, the result type of a prototype and the underlying type of an
// enum are added before begin(), because entries of types do not nest.

void TreeReader::describe_composite(tree type, TypeNumber number)
{
    Entry composite{.kind = TREE_CODE(type) == UNION_TYPE ? Kind::union_type : Kind::structure_type,
                    .name = type_name(type)};
    composite.is_declared = !TYPE_SIZE(type);
    if (composite.is_declared)
        return entries_.add(number, composite);
    composite.bytes = size_in_bytes_of(type);
    std::vector<std::pair<tree, TypeNumber>> members;
    for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field))
        if (is_member(field)) {
            tree of = field_type(field);
            members.emplace_back(field, type_of(of, decl_quals(field) | TYPE_QUALS(of)));
        }
    entries_.begin(number, composite);
    for (const auto &[field, type_of_field] : members) {
        Entry member = member_entry(field);
        member.type = type_of_field;
        entries_.part(member);
        add_decl_tags(DECL_ATTRIBUTES(field));
    }
    entries_.end();
}

void TreeReader::describe_enum(tree type, TypeNumber number)
{
    Entry entry{.kind = Kind::enumeration_type, .name = type_name(type)};
    entry.is_declared = !TYPE_SIZE(type);
    if (entry.is_declared)
        return entries_.add(number, entry);
    entry.type = type_of(lang_hooks.types.enum_underlying_base_type(type), 0);
    entry.bytes = size_in_bytes_of(type);
    entries_.begin(number, entry);
    for (tree link = TYPE_VALUES(type); link; link = TREE_CHAIN(link)) {
        tree value = TREE_VALUE(link);
        if (TREE_CODE(value) == CONST_DECL)
            value = DECL_INITIAL(value);
        if (TREE_CODE(value) != INTEGER_CST)
            continue;
        const auto low = static_cast<HOST_WIDE_INT>(TREE_INT_CST_LOW(value));
        Entry enumerator{.kind = Kind::enumerator, .name = text_of(TREE_PURPOSE(link))};
        enumerator.value = static_cast<uint64_t>(low);
        enumerator.is_negative = !TYPE_UNSIGNED(TREE_TYPE(value)) && low < 0;
        entries_.part(enumerator);
    }
    entries_.end();
}

void TreeReader::describe_prototype(tree type, TypeNumber number)
{
    const TypeNumber result = result_of(type);
    std::vector<TypeNumber> parameters;
    tree link = TYPE_ARG_TYPES(type);
    for (; link && !VOID_TYPE_P(TREE_VALUE(link)); link = TREE_CHAIN(link))
        parameters.push_back(type_of(TREE_VALUE(link)));
    entries_.begin(number, {.kind = Kind::subroutine_type, .type = result});
    for (TypeNumber parameter : parameters)
        entries_.part({.kind = Kind::parameter, .type = parameter});
    if (!link) // a list of fixed length ends with void
        entries_.part({.kind = Kind::variadic});
    entries_.end();
}

void TreeReader::add_decl_tags(tree attributes)
{
    for (const char *text : attribute_texts("btf_decl_tag", attributes))
        entries_.tag("btf_decl_tag", text);
}

} // namespace btflink::emit::gcc
