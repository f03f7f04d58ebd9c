// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Replaces characters that BTF does not allow in names.
#include "emit/unit/legal_names.h"
#include "common/btf/name_rules.h"
#include "emit/unit/unit_variables.h"

#include <dwarf.h>

namespace btflink::emit
{

LegalNames make_names_legal(DieTree &tree, Skips &skips)
{
    LegalNames names;
    for (DieIndex i = 1; i < tree.dies.size(); ++i) {
        Die &d = tree.dies[i];
        if (tree.c_names && d.tag != DW_TAG_typedef)
            continue;
        const size_t length_limit = d.tag == DW_TAG_variable ? max_variable_name : max_legal_name;
        if (!d.name || !*d.name || d.tag == DW_TAG_base_type || is_legal_name(d.name, length_limit))
            continue;
        names.push_back(legal_name(d.name, length_limit));
        d.name = names.back().c_str();
    }
    if (!names.empty())
        skips[Skip::name_made_legal] += names.size();
    return names;
}

} // namespace btflink::emit
