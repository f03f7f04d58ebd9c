// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// pahole's names of source languages, for --lang-exclude.
#pragma once

#include "common/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace btflink::emit
{

/// "rust,c++14" -> DW_LANG_* codes. A name without version ("c++") means all versions; case does
/// not matter. Unknown names are errors, which list the known names.
Result<std::vector<uint16_t>> parse_languages(std::string_view list);

/// For example "c++14"; empty if the code is unknown.
std::string language_name(uint16_t language);

/// Are all names in this language C identifiers? True for C, assembler and unknown languages.
bool has_c_names(uint16_t language);

} // namespace btflink::emit
