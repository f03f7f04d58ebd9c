// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Keeps the index of a base in a file, for many runs with the same base.
#pragma once

#include "merge/input/final_btf.h"

#include <string>

namespace btflink::merge
{

/// read_base() with an index from the file `index`. With an index the base is not parsed. If the
/// file does not exist or does not match the base, the index is made for later runs, unless another
/// process is making it or it cannot be written; this is not an error.
Result<Base> read_indexed_base(const std::string &path, const std::string &index);

/// Makes an index in memory, for callers that merge repeatedly with the same base.
void add_index(Base &base);

} // namespace btflink::merge
