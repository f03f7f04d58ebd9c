// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Vectors of numbers as keys; with as few bits of their hashes as hash_bits.h says.
#pragma once

#include "common/graph/vector_index.h"
#include "merge/dedup/hash_bits.h"

namespace btflink::merge
{

/// Not the number of any block, set or key.
constexpr uint32_t no_number = UINT32_MAX;

using VectorIndex = btflink::VectorIndex<low_bits(hash_bits)>;

} // namespace btflink::merge
