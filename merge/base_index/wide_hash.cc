// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// XXH3 compiled for AVX2. This file must not call inline functions that other files share: it would
// have copies of them that need AVX2, and the linker could make all files use these copies.
#include "merge/base_index/wide_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VECTOR < XXH_AVX2
#error "compile this with -mavx2"
#endif

namespace btflink::merge::wide_hash
{

void hash128(const void *bytes, size_t size, uint64_t &low, uint64_t &high)
{
    const XXH128_hash_t h = XXH3_128bits(bytes, size);
    low = h.low64;
    high = h.high64;
}

uint64_t hash64(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

} // namespace btflink::merge::wide_hash
