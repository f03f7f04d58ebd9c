// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A process that encodes one object touches some 500 fresh pages. Each costs the kernel a
// fault of 1.5 us (measured in a virtual machine), in total more than any pass of ours. Requesting
// them all at once costs the same, because it is the bookkeeping per page that takes time.
//
// Method. Huge pages: 2 MB for a tenth of the price of 500 small ones. malloc() grows its heap from
// wherever the program's data ends, at no boundary. So the heap is made to grow once, far enough
// to hold two aligned huge pages; these are asked for before they are touched; and a block that is
// never used takes what lies before them (it costs addresses, no memory). Memory that is freed is
// used again, never given back.
//
// If the kernel has no huge pages or must not use them, the process gets small ones as usual.
#include "emit/heap.h"

#include "common/io/keep_memory.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace btflink::emit
{

namespace
{

constexpr uintptr_t huge_page = uintptr_t{2} << 20;
constexpr uintptr_t huge_pages = 2; // enough for a large object's contents and what is made of them

void *volatile filler; // volatile: an allocation that nobody looks at is optimised away

uintptr_t heap_end()
{
    return reinterpret_cast<uintptr_t>(sbrk(0));
}

} // namespace

void prepare_heap()
{
    keep_freed_memory();
    // Larger than what is left of the heap's first piece (132 KB), so that it has to grow. What
    // malloc() writes behind it must not be in the first huge page: it comes before the advice.
    constexpr size_t probe_size = 256 << 10;
    const uintptr_t first = (heap_end() + probe_size + huge_page) / huge_page * huge_page;
    const uintptr_t end = first + huge_pages * huge_page;
    set_heap_growth(static_cast<int>(end - heap_end()));
    void *probe = std::malloc(probe_size);
    set_heap_growth(usual_heap_growth);
    const auto at = reinterpret_cast<uintptr_t>(probe);
    if (probe && at < first && heap_end() >= end &&
        madvise(reinterpret_cast<void *>(first), end - first, MADV_HUGEPAGE) == 0) {
        std::free(probe);
        // The next block begins a few bytes before the first huge page or behind that.
        filler = std::malloc(first - at);
        return;
    }
    std::free(probe);
}

} // namespace btflink::emit
