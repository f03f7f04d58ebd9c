// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Keeps the index of a base in a file, for many runs over one base.
#pragma once

#include "merge/input/final_btf.h"

#include <string>

namespace btflink::merge
{

/// As read_base(), with an index from the file `index`. If there is no such file, or it does not
/// fit the base, it is made, unless somebody else is just doing so or it cannot be written: then
/// there is no index, which is no error. With an index the base is not parsed.
Result<Base> read_indexed_base(const std::string &path, const std::string &index);

/// Gives a base that was read an index in memory, for callers that merge many things over it.
void add_index(Base &base);

} // namespace btflink::merge
