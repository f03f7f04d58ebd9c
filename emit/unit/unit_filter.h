// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses units by language and name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::emit
{

struct UnitFilter {
    std::vector<uint16_t> excluded_languages; // DW_LANG_*
    std::vector<uint16_t> languages;          // DW_LANG_*; if not empty, only these are encoded
    std::string excluded_names;               // prefix of names of excluded units; "": none

    bool takes_language(uint16_t language) const
    {
        auto has = [&](const std::vector<uint16_t> &list) {
            return std::find(list.begin(), list.end(), language) != list.end();
        };
        return !has(excluded_languages) && (languages.empty() || has(languages));
    }
    bool takes_name(std::string_view name) const
    {
        return excluded_names.empty() || !name.starts_with(excluded_names);
    }
};

} // namespace btflink::emit
