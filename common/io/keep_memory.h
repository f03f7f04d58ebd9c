// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Keeps freed memory in the process.
#pragma once

#include <climits>
#include <malloc.h>

namespace btflink
{

/// For programs that use one large table after the other: what one frees, the next gets. It does
/// not go back to the kernel, which would clear its pages before it returns them.
inline void keep_freed_memory()
{
    constexpr int most = 32 << 20; // that every glibc takes; with more older ones stay at 128 KB
    mallopt(M_MMAP_THRESHOLD, most);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 1 << 20);
}

} // namespace btflink
