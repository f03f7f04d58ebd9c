// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What malloc() does with memory that is freed. Settings are glibc's; other C libraries have none.
#pragma once

#include <climits>
#include <cstdlib> // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace btflink
{

/// By how many bytes more than it must the heap grows.
inline void set_heap_growth([[maybe_unused]] int bytes)
{
#ifdef __GLIBC__
    mallopt(M_TOP_PAD, bytes);
#endif
}

constexpr int usual_heap_growth = 1 << 20;

/// For programs that use one large table after the other: what one frees, the next gets. It does
/// not go back to the kernel, which would clear its pages before it returns them.
inline void keep_freed_memory()
{
#ifdef __GLIBC__
    // That every glibc takes; with more older ones stay at 128 KB.
    constexpr int most = sizeof(long) == 8 ? 32 << 20 : 512 << 10;
    mallopt(M_MMAP_THRESHOLD, most);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
    set_heap_growth(usual_heap_growth);
}

/// All that is free goes back to the kernel, once.
inline void return_freed_memory()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

} // namespace btflink
