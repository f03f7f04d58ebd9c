// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// ELF headers as bytes, of either class and byte order: for writing ELF files and for finding out
// which parts of one to read. Everything else reads ELF through elf_input.h.
#pragma once

#include "common/bytes.h"

#include <cstddef>
#include <elf.h>

namespace btflink::merge
{

/// A section header of either class.
struct SectionHeader {
    uint32_t name = 0, type = SHT_NULL;
    uint64_t flags = 0, address = 0, offset = 0, size = 0;
    uint32_t link = 0, info = 0;
    uint64_t alignment = 0, entry_size = 0;
};

/// Where the fields of an ELF header are.
struct ElfShape {
    bool is64;
    ByteOrder order;

    size_t header_size() const { return is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr); }
    size_t section_size() const { return is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr); }
    size_t segment_size() const { return is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr); }
    size_t shoff_at() const
    {
        return is64 ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff);
    }
    size_t phoff_at() const
    {
        return is64 ? offsetof(Elf64_Ehdr, e_phoff) : offsetof(Elf32_Ehdr, e_phoff);
    }
    size_t flags_at() const
    {
        return is64 ? offsetof(Elf64_Ehdr, e_flags) : offsetof(Elf32_Ehdr, e_flags);
    }
    // 16-bit fields that end the header, in both classes at the same distance from its end
    size_t ehsize_at() const { return header_size() - 12; }
    size_t phentsize_at() const { return header_size() - 10; }
    size_t phnum_at() const { return header_size() - 8; }
    size_t shentsize_at() const { return header_size() - 6; }
    size_t shnum_at() const { return header_size() - 4; }
    size_t shstrndx_at() const { return header_size() - 2; }

    uint64_t load_word(const std::byte *p) const
    {
        return is64 ? load<uint64_t>(p, order) : load<uint32_t>(p, order);
    }
    void store_word(std::byte *p, uint64_t value) const
    {
        if (is64)
            store<uint64_t>(p, value, order);
        else
            store<uint32_t>(p, static_cast<uint32_t>(value), order);
    }
};

/// `p`: shape.section_size() bytes.
SectionHeader decode_header(const std::byte *p, ElfShape shape);
void put_header(ByteWriter &out, const SectionHeader &h, ElfShape shape);

} // namespace btflink::merge
