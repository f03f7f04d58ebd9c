// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tells which names kernels accept. Kernels take the bytes of a name for Latin-1. Also makes legal
// names, by a stricter rule: they have only ASCII characters and a limited length.
#include "common/btf/btf_check.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace btflink
{

namespace
{

// Like the kernel's isalpha() and isprint(), for Latin-1. Those of libc depend on the locale.
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

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_ascii_identifier_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

bool is_beyond_ascii(char c)
{
    return static_cast<unsigned char>(c) >= 0x80;
}
/// Is `c` a byte of a UTF-8 character, but not the first one?
bool continues_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

} // namespace

bool is_identifier(std::string_view name)
{
    auto allowed = [](char c) { return in_identifiers[static_cast<unsigned char>(c)]; };
    return !name.empty() && (allowed(name[0]) & may_begin) &&
           std::all_of(name.begin() + 1, name.end(),
                       [&](char c) { return allowed(c) & may_follow; });
}

bool is_section_name(std::string_view name)
{
    return !name.empty() && std::ranges::all_of(name, is_printable);
}

bool has_odd_character(std::string_view text)
{
    // Called for all names of an object. Compilers vectorise the loop because it has no early exit.
    unsigned odd = 0;
    for (char c : text)
        odd |= static_cast<unsigned>(c == '$' || is_beyond_ascii(c));
    return odd != 0;
}

std::string abbreviated(const std::string &text)
{
    constexpr size_t most = 600;
    return text.size() <= most
               ? text
               : text.substr(0, most / 2) + "..." + text.substr(text.size() - most / 2);
}

std::string legal_name(std::string_view name, size_t length_limit)
{
    std::string out(name.empty() || is_digit(name.front()) ? "_" : "");
    bool in_character = false;
    for (char c : name.substr(0, 4 * length_limit)) { // a character has at most 4 bytes
        if (is_ascii_identifier_part(c))
            out += c;
        else if (!in_character || !continues_character(c))
            out += '_';
        in_character = is_beyond_ascii(c);
    }
    out.resize(std::min(out.size(), length_limit));
    return out;
}

bool is_legal_name(std::string_view name, size_t length_limit)
{
    return !name.empty() && name.size() <= length_limit && !is_digit(name.front()) &&
           std::ranges::all_of(name, is_ascii_identifier_part);
}

} // namespace btflink
