// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Counts what is left out or changed, by reason.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace btflink::emit
{

/// In the order of their words.
enum class Skip : uint8_t {
    array_of_incomplete_type,
    atomic_qualifier_dropped,
    base_type_of_odd_size,
    covered,
    enumerator_value_not_constant,
    excluded_language,
    excluded_name,
    function_of_incomplete_type,
    inexpressible,
    interface_type,
    member_location_not_constant,
    mended,
    name_made_legal,
    nullptr_as_pointer,
    partial_unit,
    pointer_to_member_as_int,
    prototype_of_incomplete_type,
    reference_as_pointer,
    split_dwarf_unit,
    string_type,
    type_unit,
    type_unit_reference,
    unknown_unit,
    unnamed_base_type,
    unnamed_declaration,
    unnamed_typedef,
    unresolved_reference,
    variable_name,
    variable_of_size_zero,
    variable_of_type_void,
    variable_too_large,
    variable_without_section,
    count
};

/// The stable word for --stats and warnings.
constexpr const char *skip_word(Skip skip)
{
    constexpr const char *words[] = {
        "array-of-incomplete-type",
        "atomic-qualifier-dropped",
        "base-type-of-odd-size",
        "covered",
        "enumerator-value-not-constant",
        "excluded-language",
        "excluded-name",
        "function-of-incomplete-type",
        "inexpressible",
        "interface-type",
        "member-location-not-constant",
        "mended",
        "name-made-legal",
        "nullptr-as-pointer",
        "partial-unit",
        "pointer-to-member-as-int",
        "prototype-of-incomplete-type",
        "reference-as-pointer",
        "split-dwarf-unit",
        "string-type",
        "type-unit",
        "type-unit-reference",
        "unknown-unit",
        "unnamed-base-type",
        "unnamed-declaration",
        "unnamed-typedef",
        "unresolved-reference",
        "variable-name",
        "variable-of-size-zero",
        "variable-of-type-void",
        "variable-too-large",
        "variable-without-section",
    };
    static_assert(std::size(words) == static_cast<size_t>(Skip::count));
    return words[static_cast<size_t>(skip)];
}

using Skips = std::map<Skip, uint64_t>;

/// Units whose DWARF was not read. Their DWARF must not be dropped.
constexpr Skip unread_units[] = {Skip::split_dwarf_unit, Skip::partial_unit, Skip::type_unit,
                                 Skip::unknown_unit};

} // namespace btflink::emit
