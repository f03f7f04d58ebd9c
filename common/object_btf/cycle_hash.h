// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Stub hashes of types that reach a cycle without names. Here parts cannot be hashed first. C has
// no such cycles, but recursive function types of other languages are such cycles. See FORMAT.md,
// 6.
#pragma once

#include "common/object_btf/type_hash.h"

#include <span>
#include <vector>

namespace btflink
{

/// `refs[i]`: the references of type i to these types, in order. `own[i]`: hash of everything else
/// in type i. Returns a hash per type. Types that are the same at any depth get equal hashes, in
/// all blobs, unless this takes too long, as with hundreds of different types that all reach each
/// other. Different types never get equal hashes.
std::vector<Hash128> cycle_hashes(const std::vector<std::vector<uint32_t>> &refs,
                                  const std::vector<Hash128> &own);

} // namespace btflink
