// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the BTF of the result: final classes, functions and variables.
#pragma once

#include "merge/dedup/classes/choose_base.h"
#include "merge/dedup/partition.h"
#include "merge/link/select_functions.h"
#include "merge/link/select_variables.h"

namespace btflink::merge
{

/// Types and strings in byte order `order`, continuing the base of `sources`, if there is one, of
/// which `known` tells what is needed.
Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const BaseKnowledge &known, ByteOrder order,
                                           const Where &where, unsigned threads);

} // namespace btflink::merge
