// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decodes relocations, and sorts them if a linker left them out of order.
#include "common/elf/elf_image.h"

#include <algorithm>
#include <numeric>

namespace btflink
{

RelocTable::RelocTable(Bytes raw, bool is64, bool rela, ByteOrder order)
    : raw_(raw), is64_(is64), rela_(rela), order_(order)
{
    if (is64)
        entry_size_ = rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    else
        entry_size_ = rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
    count_ = raw.size() / entry_size_;
    native64_ = is64 && rela && order == host_order;

    // Assemblers write them in order; a linker may not.
    bool in_order = true;
    uint64_t last = 0;
    for (size_t i = 0; i < count_ && in_order; ++i) {
        in_order = last <= offset(i);
        last = offset(i);
    }
    if (in_order)
        return;
    std::vector<size_t> index(count_);
    std::iota(index.begin(), index.end(), size_t{0});
    std::ranges::stable_sort(index, [&](size_t a, size_t b) { return offset(a) < offset(b); });
    for (size_t i : index) {
        Bytes entry = raw_.subspan(i * entry_size_, entry_size_);
        sorted_.insert(sorted_.end(), entry.begin(), entry.end());
    }
    raw_ = sorted_;
}

RelocEntry RelocTable::decode(const std::byte *p) const
{
    if (is64_)
        return {load<uint64_t>(p, order_), load<uint64_t>(p + 8, order_),
                rela_ ? static_cast<int64_t>(load<uint64_t>(p + 16, order_)) : 0};
    return {load<uint32_t>(p, order_), load<uint32_t>(p + 4, order_),
            rela_ ? static_cast<int32_t>(load<uint32_t>(p + 8, order_)) : 0};
}

size_t RelocTable::find(uint64_t at) const
{
    size_t low = 0, high = count_;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (offset(middle) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

} // namespace btflink
