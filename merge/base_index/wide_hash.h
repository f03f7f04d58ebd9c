// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// XXH3 of much, by vectors of 32 bytes: the same numbers in half the time. The C library's headers
// alone are here, as wide_hash.cc is compiled for other processors than the rest.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace btflink::merge::wide_hash
{

/// May the others be called on this processor?
#ifdef __x86_64__
inline bool is_there()
{
    return __builtin_cpu_supports("avx2");
}
#else
constexpr bool is_there()
{
    return false;
}
#endif

void hash128(const void *bytes, size_t size, uint64_t &low, uint64_t &high);
uint64_t hash64(const void *bytes, size_t size, uint64_t seed);

} // namespace btflink::merge::wide_hash
