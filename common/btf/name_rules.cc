// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The kernel's character classes.
#include "common/btf/name_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace btflink
{

namespace
{

// Latin-1, whatever the locale.
constexpr bool is_letter(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}
bool is_printable(unsigned char c)
{
    return (c >= 0x20 && c < 0x7f) || c >= 0xa0;
}

constexpr uint8_t may_begin = 1, may_follow = 2;
constexpr std::array<uint8_t, 256> in_identifiers = [] {
    std::array<uint8_t, 256> table{};
    for (unsigned c = 0; c < table.size(); ++c)
        if (is_letter(static_cast<unsigned char>(c)) || c == '_' || c == '.')
            table[c] = may_begin | may_follow;
        else if (c >= '0' && c <= '9')
            table[c] = may_follow;
    return table;
}();

} // namespace

bool is_identifier(std::string_view name)
{
    auto may = [](uint8_t what) {
        return [what](char c) { return in_identifiers[static_cast<unsigned char>(c)] & what; };
    };
    return !name.empty() && may(may_begin)(name[0]) &&
           std::all_of(name.begin() + 1, name.end(), may(may_follow));
}

bool is_section_name(std::string_view name)
{
    return !name.empty() && std::all_of(name.begin(), name.end(), is_printable);
}

} // namespace btflink
