// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Replaces characters that BTF does not allow in names.
#include "emit/unit/legal_names.h"

#include <algorithm>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// Kernels refuse longer ones (KSYM_NAME_LEN).
constexpr size_t max_length = 511;

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool may_be_inside(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

bool is_legal(std::string_view name)
{
    return !name.empty() && name.size() <= max_length && !is_digit(name.front()) &&
           std::ranges::all_of(name, may_be_inside);
}

std::string legal(std::string_view name)
{
    std::string out(is_digit(name.front()) ? "_" : "");
    for (char c : name)
        out += may_be_inside(c) ? c : '_';
    out.resize(std::min(out.size(), max_length));
    return out;
}

} // namespace

LegalNames make_names_legal(DieTree &tree, Skips &skips)
{
    LegalNames names;
    for (DieIndex i = 1; i < tree.dies.size(); ++i) {
        Die &d = tree.dies[i];
        if (!d.name || !*d.name || d.tag == DW_TAG_base_type || d.tag == DW_TAG_variable ||
            is_legal(d.name))
            continue;
        names.push_back(legal(d.name));
        d.name = names.back().c_str();
    }
    if (!names.empty())
        skips["name-made-legal"] += names.size();
    return names;
}

} // namespace btflink::emit
