// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Keeps the index of a base in a file, for many runs with the same base.
#pragma once

#include "merge/input/final_btf.h"

#include <string>

namespace btflink::merge
{

/// read_base() with an index. If the file `index` has it, the base is not parsed. Otherwise the
/// index is made, and kept in this file for later runs if that can be written. `index` may be
/// empty.
Result<Base> read_indexed_base(const std::string &path, const std::string &index);

} // namespace btflink::merge
