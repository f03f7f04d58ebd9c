// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// How many bits the engine uses of the hashes that it computes itself: all, except in test builds.
// Test builds (-DBTFLINK_HASH_BITS=N, by meson's -Dhash_bits=N or in tests/merge/meson.build) keep
// N bits, so that hashes collide all the time. A result that is right in a test build does not
// depend on these hashes. Normal builds trust the 128-bit hash of a set of reachable conflicts
// (reachable_conflicts.cc). All builds trust stub hashes (group_by_hash.cc).
#pragma once

#include "common/graph/tables.h"
#include "common/object_btf/type_hash.h"

namespace btflink::merge
{

#ifdef BTFLINK_HASH_BITS
constexpr unsigned hash_bits = BTFLINK_HASH_BITS;
#else
constexpr unsigned hash_bits = 128;
#endif
/// If the hashes of two sets are equal, are the sets taken to be equal?
constexpr bool trust_hashes = hash_bits >= 128;

constexpr uint64_t low_bits(unsigned n)
{
    return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// The VectorIndex of common/graph/tables.h, with the bits of this build.
using VectorIndex = btflink::VectorIndex<low_bits(hash_bits)>;

/// Not the number of any block, set or key.
constexpr uint32_t no_number = UINT32_MAX;

} // namespace btflink::merge
