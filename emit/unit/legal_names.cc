// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Replaces characters that BTF does not allow in names.
#include "emit/unit/legal_names.h"
#include "emit/unit/unit_variables.h"

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

bool is_legal(std::string_view name, size_t length_limit)
{
    return !name.empty() && name.size() <= length_limit && !is_digit(name.front()) &&
           std::ranges::all_of(name, may_be_inside);
}

std::string legal(std::string_view name, size_t length_limit)
{
    std::string out(is_digit(name.front()) ? "_" : "");
    for (char c : name)
        out += may_be_inside(c) ? c : '_';
    out.resize(std::min(out.size(), length_limit));
    return out;
}

} // namespace

LegalNames make_names_legal(DieTree &tree, Skips &skips)
{
    LegalNames names;
    for (DieIndex i = 1; i < tree.dies.size(); ++i) {
        Die &d = tree.dies[i];
        if (tree.c_names && d.tag != DW_TAG_typedef)
            continue;
        const size_t length_limit = d.tag == DW_TAG_variable ? max_variable_name : max_length;
        if (!d.name || !*d.name || d.tag == DW_TAG_base_type || is_legal(d.name, length_limit))
            continue;
        names.push_back(legal(d.name, length_limit));
        d.name = names.back().c_str();
    }
    if (!names.empty())
        skips[Skip::name_made_legal] += names.size();
    return names;
}

} // namespace btflink::emit
