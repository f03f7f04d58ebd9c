// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the result's BTF: final classes, functions and variables.
#pragma once

#include "merge/base_index/base_index.h"
#include "merge/dedup/partition.h"
#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"

#include <future>

namespace btflink::merge
{

/// Returns BTF in byte order `order` that extends the base of `sources`, if there is one. `index`:
/// finds strings and types in the base; null: none are shared. `second_thread`: how to run what
/// only saves time.
Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const BaseIndex *index, ByteOrder order,
                                           const Where &where, std::launch second_thread);

} // namespace btflink::merge
