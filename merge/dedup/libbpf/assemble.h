// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// One BTF blob with all selected types, functions and variables, duplicates included.
#pragma once

#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"

#include <memory>
#include <vector>

namespace btflink::merge
{

/// In host byte order; continues the base if there is one.
struct Assembled {
    std::vector<uint32_t> words; // types
    std::string strings;
    uint32_t types = 0;
};

/// `base` may be null.
Result<Assembled> assemble(const std::vector<Object> &objects, const Locations &locations,
                           const Functions &functions, const Variables &variables, const Btf *base);

} // namespace btflink::merge
