// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The entries of a relocation section, decoded on access.
#pragma once

#include "common/elf/elf_image.h"

#include <vector>

namespace btflink
{

/// A decoded entry of SHT_REL or SHT_RELA.
struct RelocEntry {
    uint64_t offset;
    uint64_t info;
    int64_t addend; // 0 for SHT_REL, which has addends in the section
};

/// The entries, sorted by offset.
class RelocTable
{
public:
    RelocTable() = default;
    /// `raw` is a multiple of the entry size.
    RelocTable(Bytes raw, bool is64, bool rela, ByteOrder order);

    size_t size() const { return count_; }
    RelocEntry operator[](size_t i) const
    {
        const std::byte *p = raw_.data() + i * entry_size_;
        if (native64_) {
            Elf64_Rela r;
            __builtin_memcpy(&r, p, sizeof r);
            return {r.r_offset, r.r_info, r.r_addend};
        }
        return decode(p);
    }
    uint64_t offset(size_t i) const
    {
        if (!native64_)
            return decode(raw_.data() + i * entry_size_).offset;
        uint64_t offset;
        __builtin_memcpy(&offset, raw_.data() + i * sizeof(Elf64_Rela), sizeof offset);
        return offset;
    }
    /// The first index from `i` on whose offset is `offset` or more.
    size_t skip_before(size_t i, uint64_t offset) const
    {
        while (i < count_ && this->offset(i) < offset)
            ++i;
        return i;
    }
    /// Index of the first entry at or after `offset`.
    size_t find(uint64_t offset) const;
    bool is_at(size_t i, uint64_t offset) const { return i < count_ && this->offset(i) == offset; }

private:
    RelocEntry decode(const std::byte *p) const;

    Bytes raw_;
    std::vector<std::byte> sorted_; // empty if the file's entries are in order
    size_t entry_size_ = 1, count_ = 0;
    bool native64_ = false; // Elf64_Rela in host order
    bool is64_ = true, rela_ = true;
    ByteOrder order_ = host_order;
};

} // namespace btflink
