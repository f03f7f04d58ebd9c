// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads ELF files of any class and byte order, and archives. Other files of merge/ include neither
// LLVM nor ELF's structures.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::merge
{

struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t alignment = 0;
    uint32_t link = 0, info = 0;
};

/// Where a symbol is defined.
enum class Home : uint8_t { undefined, section, absolute, common };

struct Symbol {
    const char *text = ""; // its name, ended by NUL
    uint64_t value = 0;
    uint64_t size = 0;
    uint32_t section = 0; // index into the file's sections if home is Home::section
    Home home = Home::undefined;
    uint8_t type = 0;    // STT_*
    uint8_t binding = 0; // STB_*

    std::string_view name() const { return text; } // computes the length
};

/// Symbols of a file. A kernel has half a million, of which few are needed, so each is decoded on
/// access; ElfFile::parse() has checked all.
class SymbolTable
{
public:
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Symbol operator[](size_t i) const { return read_(*this, i); }

private:
    template <typename ElfType>
    friend class ElfReader;

    size_t size_ = 0;
    const void *records_ = nullptr;
    const void *extended_ = nullptr; // section indexes of .symtab_shndx
    size_t extended_size_ = 0;
    std::string_view names_;
    size_t sections_ = 0; // number of the file's sections
    bool is_arm_ = false;
    Symbol (*read_)(const SymbolTable &, size_t) = nullptr;
};

/// A relocation of an absolute address: the value to be written is symbol + addend.
struct Reloc {
    uint64_t offset = 0; // in the section
    uint32_t symbol = 0; // index into the file's symbols
    int64_t addend = 0;
};

/// Contents of a section. `owned` keeps them alive if they were decompressed.
struct SectionContents {
    Bytes bytes;
    std::shared_ptr<const void> owned;
};

class ElfFile
{
public:
    /// Checks headers, names of sections and all symbols. `bytes` must outlive the ElfFile.
    static Result<ElfFile> parse(Bytes bytes, const Where &where);

    const Where &where() const { return where_; }
    uint16_t machine() const { return machine_; }
    uint32_t machine_flags() const { return flags_; } // e_flags
    uint16_t type() const { return type_; }           // ET_*
    /// Made by a compiler, assembler or `ld -r`: no addresses yet.
    bool is_relocatable() const { return type_ == 1 /* ET_REL */; }
    uint8_t address_size() const { return address_size_; }
    ByteOrder order() const { return order_; }
    const std::vector<Section> &sections() const { return sections_; }
    /// .symtab, including the null symbol; empty if there is none.
    const SymbolTable &symbols() const { return symbols_; }
    bool has_symbols() const { return !symbols_.empty(); }

    /// Decompressed if necessary. Empty for SHT_NOBITS.
    Result<SectionContents> contents(uint32_t section) const;
    /// Relocations of `section`, sorted by offset. Error: one is not of an absolute address.
    /// `width`: bytes that each fills, for addends that are stored in the section.
    Result<std::vector<Reloc>> relocations(uint32_t section, uint8_t width) const;

private:
    ElfFile() = default;
    template <typename ElfType>
    friend class ElfReader;

    Where where_;
    Bytes bytes_;
    uint16_t machine_ = 0;
    uint16_t type_ = 0;
    uint32_t flags_ = 0;
    uint8_t address_size_ = 8;
    ByteOrder order_ = host_order;
    std::vector<Section> sections_;
    SymbolTable symbols_;
};

bool is_archive(Bytes bytes);

/// A member of an archive, in archive order.
struct ArchiveMember {
    std::string name;
    Bytes bytes;      // inside the archive's bytes
    std::string path; // thin archives: of the member's file; `bytes` is empty
};

Result<std::vector<ArchiveMember>> archive_members(Bytes bytes, const Where &where);

} // namespace btflink::merge
