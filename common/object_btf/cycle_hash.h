// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Stub hashes of what cannot be hashed from its parts upwards, for it reaches a cycle that passes
// no name. C has none; other languages' recursive function types do. See FORMAT.md, 6.
#pragma once

#include "common/object_btf/type_hash.h"

#include <span>
#include <vector>

namespace btflink
{

/// `refs[i]`: what type i refers to of these types, in order. `own[i]`: hash of the rest of it.
/// Returns a hash for each: equal for types that are the same as deep as one looks, in this blob or
/// any other. Empty if that takes too long (hundreds of types that are all different and all reach
/// each other).
std::vector<Hash128> cycle_hashes(const std::vector<std::vector<uint32_t>> &refs,
                                  const std::vector<Hash128> &own);

} // namespace btflink
