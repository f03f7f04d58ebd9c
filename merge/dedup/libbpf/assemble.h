// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// All that was selected, as one BTF blob with all its duplicates.
#pragma once

#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"

#include <memory>
#include <vector>

namespace btflink::merge
{

/// A blob in host byte order; continues the base if there is one.
struct Assembled {
    std::vector<uint32_t> words; // types
    std::string strings;
    uint32_t types = 0;
};

/// `base` may be null.
Result<Assembled> assemble(const std::vector<Object> &objects, const Located &located,
                           const Functions &functions, const Variables &variables, const Btf *base,
                           unsigned threads);

} // namespace btflink::merge
