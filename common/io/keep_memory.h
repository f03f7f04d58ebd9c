// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What malloc() does with freed memory. Works with glibc only; other C libraries have no such
// settings.
#pragma once

#include <climits>
#include <cstdint>
#include <cstdlib> // defines __GLIBC__
#include <sys/mman.h>
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

/// For a large table that will be used completely and has not been touched yet. Huge pages cause a
/// tenth of the faults, and make random look-ups faster. The kernel may ignore this.
inline void use_huge_pages([[maybe_unused]] void *table, [[maybe_unused]] size_t bytes)
{
#ifdef MADV_HUGEPAGE
    constexpr uintptr_t page = uintptr_t{2} << 20;
    const auto at = reinterpret_cast<uintptr_t>(table);
    const uintptr_t first = (at + page - 1) / page * page, end = (at + bytes) / page * page;
    if (first < end)
        ::madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE);
#endif
}

} // namespace btflink
