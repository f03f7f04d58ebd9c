// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Names of source languages as --lang-exclude takes them (pahole's names).
#pragma once

#include "common/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace btflink::emit
{

/// "rust,c++14" -> DW_LANG_* codes. A name without version ("c++") stands for all versions, and
/// case does not matter. Unknown names are errors, which list the known ones.
Result<std::vector<uint16_t>> parse_languages(std::string_view list);

/// "c++14"; empty: there is no such language.
std::string language_name(uint16_t language);

/// C, assembler, or not known: what has a name has an identifier for one.
bool has_c_names(uint16_t language);

} // namespace btflink::emit
