// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the BTF of the result: final classes, functions and variables.
#pragma once

#include "merge/dedup/split_conflicts.h"
#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"

namespace btflink::merge
{

/// Types and strings in byte order `order`, continuing `base` (may be null).
Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const Btf *base, ByteOrder order, const Where &where,
                                           unsigned threads);

} // namespace btflink::merge
