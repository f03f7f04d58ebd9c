// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// XXH3 in vectors of 32 bytes: the same hashes in half the time. This header includes only headers
// without inline functions; wide_hash.cc explains why.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace btflink::merge::wide_hash
{

#ifdef __x86_64__
/// Can this processor run the functions below?
inline bool is_supported()
{
    return __builtin_cpu_supports("avx2");
}

void hash128(const void *bytes, size_t size, uint64_t &low, uint64_t &high);
uint64_t hash64(const void *bytes, size_t size, uint64_t seed);
#else
constexpr bool is_supported()
{
    return false;
}

// Never called. But without optimisation (-O0), g++ keeps the calls, so the linker needs these.
inline void hash128(const void *, size_t, uint64_t &, uint64_t &) {}
inline uint64_t hash64(const void *, size_t, uint64_t)
{
    return 0;
}
#endif

} // namespace btflink::merge::wide_hash
