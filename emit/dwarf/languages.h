// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// pahole's names of source languages, for --lang and --lang-exclude; the choice of units by
// language and name; what a unit's language and compiler imply.
#pragma once

#include "common/result.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::emit
{

/// "rust,c++14" -> DW_LANG_* codes. A name without version ("c++") means all versions; case does
/// not matter. Unknown names are errors, which list the known names.
Result<std::vector<uint16_t>> parse_languages(std::string_view list);

/// The name of a DW_LANG_* code, for example "c++14"; empty if the code is unknown.
std::string language_name(uint16_t language);

/// Are all names in this language C identifiers? True for C and assembler, and if no language is
/// stated (0); false for an unknown code.
bool has_c_names(uint16_t language);

/// Does an array begin at index 1 if DWARF states no lower bound (DWARF 5, table 7.17)?
bool counts_from_1(uint16_t language);

/// Does the value of DW_AT_producer name clang? Reads only its beginning, because any number of
/// units may share a long string. `producer` may be nullptr.
bool is_clang(const char *producer);

struct UnitFilter {
    std::vector<uint16_t> excluded_languages; // DW_LANG_*
    std::vector<uint16_t> languages;          // DW_LANG_*; if not empty, only these are encoded
    std::string excluded_names;               // prefix of names of excluded units; "": none

    bool takes_language(uint16_t language) const
    {
        auto has = [&](const std::vector<uint16_t> &list) {
            return std::ranges::find(list, language) != list.end();
        };
        return !has(excluded_languages) && (languages.empty() || has(languages));
    }
    bool takes_name(std::string_view name) const
    {
        return excluded_names.empty() || !name.starts_with(excluded_names);
    }
};

} // namespace btflink::emit
