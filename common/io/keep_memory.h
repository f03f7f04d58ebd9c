// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What malloc() does with freed memory. Works with glibc only; other C libraries have no such
// settings.
#pragma once

#include <climits>
#include <cstdlib> // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace btflink
{

/// For programs that use one large table after another: malloc() reuses freed memory instead of
/// returning it to the kernel, which would clear its pages.
inline void keep_freed_memory()
{
#ifdef __GLIBC__
    // The maximum that every glibc accepts; with more, older ones stay at 128 KB.
    constexpr int most = sizeof(long) == 8 ? 32 << 20 : 512 << 10;
    mallopt(M_MMAP_THRESHOLD, most);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

} // namespace btflink
