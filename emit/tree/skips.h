// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Counts what is left out or changed, by reason.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace btflink::emit
{

/// The reasons, in alphabetical order. Calls X for each.
#define BTFLINK_SKIPS(X)                                                                           \
    X(array_of_incomplete_type)                                                                    \
    X(atomic_qualifier_dropped)                                                                    \
    X(base_type_of_odd_size)                                                                       \
    X(covered)                                                                                     \
    X(enumerator_value_not_constant)                                                               \
    X(excluded_language)                                                                           \
    X(excluded_name)                                                                               \
    X(function_of_incomplete_type)                                                                 \
    X(inexpressible)                                                                               \
    X(interface_type)                                                                              \
    X(member_location_not_constant)                                                                \
    X(mended)                                                                                      \
    X(name_made_legal)                                                                             \
    X(nullptr_as_pointer)                                                                          \
    X(partial_unit)                                                                                \
    X(pointer_to_member_as_int)                                                                    \
    X(prototype_of_incomplete_type)                                                                \
    X(reference_as_pointer)                                                                        \
    X(split_dwarf_unit)                                                                            \
    X(string_type)                                                                                 \
    X(type_unit)                                                                                   \
    X(type_unit_reference)                                                                         \
    X(unknown_unit)                                                                                \
    X(unnamed_base_type)                                                                           \
    X(unnamed_declaration)                                                                         \
    X(unnamed_typedef)                                                                             \
    X(unresolved_reference)                                                                        \
    X(variable_name)                                                                               \
    X(variable_of_size_zero)                                                                       \
    X(variable_of_type_void)                                                                       \
    X(variable_too_large)                                                                          \
    X(variable_without_section)

enum class Skip : uint8_t {
#define BTFLINK_SKIP(name) name,
    BTFLINK_SKIPS(BTFLINK_SKIP)
#undef BTFLINK_SKIP
};

/// The stable word for --stats and warnings, such as "type-unit".
inline std::string skip_word(Skip skip)
{
    constexpr const char *names[] = {
#define BTFLINK_SKIP(name) #name,
        BTFLINK_SKIPS(BTFLINK_SKIP)
#undef BTFLINK_SKIP
    };
    std::string word = names[static_cast<size_t>(skip)];
    std::ranges::replace(word, '_', '-');
    return word;
}

using Skips = std::map<Skip, uint64_t>;

/// Units whose DWARF was not read. Their DWARF must not be dropped.
constexpr Skip unread_units[] = {Skip::split_dwarf_unit, Skip::partial_unit, Skip::type_unit,
                                 Skip::unknown_unit};

} // namespace btflink::emit
