// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// ELF files of either class and byte order: their sections, symbols and relocations; and how to
// drop sections.
#pragma once

#include "common/io/bytes.h"
#include "common/io/file_io.h"
#include "common/result.h"

#include <elf.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace btflink
{

constexpr uint32_t sht_crel = 0x40000014; // compact relocations; some <elf.h> lack this

/// Does a section of this type hold hints of LLVM to the linker, with symbols given by index? Such
/// sections are SHT_LLVM_ADDRSIG and the call graph profile of LLVM before 13. (The profile of
/// newer versions has relocations.)
constexpr bool is_symbol_hint(uint32_t section_type)
{
    return section_type == 0x6fff4c03 || section_type == 0x6fff4c02;
}

/// A section of an ElfImage: its header, name and contents.
struct ElfSection {
    Elf64_Shdr head{}; // in host byte order, for both classes
    std::string_view name;
    Bytes data;                 // empty if not in_file(); points into the file or into `own`
    std::vector<std::byte> own; // contents that replace() has set; or empty

    /// Replaces the contents, and sets sh_size.
    void replace(std::vector<std::byte> contents);
    bool in_file() const { return head.sh_type != SHT_NULL && head.sh_type != SHT_NOBITS; }
    /// Is it a table of relocations? They apply to section sh_info.
    bool relocates() const
    {
        return head.sh_type == SHT_REL || head.sh_type == SHT_RELA || head.sh_type == sht_crel;
    }
    /// Is sh_info the index of a section?
    bool links_info() const { return relocates() || (head.sh_flags & SHF_INFO_LINK); }
};

/// Decodes a symbol of a file of this class and byte order.
Elf64_Sym decode_symbol(const std::byte *at, bool is64, ByteOrder order);

/// Contents of a section. `owned` keeps them alive if they were decompressed.
struct SectionContents {
    Bytes bytes;
    std::shared_ptr<const std::vector<std::byte>> owned;
};

/// A file that read_elf() has checked: the contents of every section are inside the file, and every
/// section name is terminated. Links and contents are *not* checked.
struct ElfImage {
    Bytes file;
    Where where; // names the file
    ByteOrder order{};
    bool is64 = false;
    // In host byte order. e_shnum, e_shstrndx and e_phnum are as in the file: values too large for
    // these fields are in section header 0.
    Elf64_Ehdr head{};
    std::vector<ElfSection> sections; // [0] is the null section, if there are any sections
    uint32_t names = 0;               // index of the table of section names, or 0
    uint64_t segments_end = 0;        // file offset where program headers and segments end, or 0

    ElfImage() = default;
    ElfImage(ElfImage &&) = default;
    ElfImage &operator=(ElfImage &&) = default;

    uint8_t address_size() const { return is64 ? 8 : 4; }
    size_t header_size() const { return is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr); }
    size_t section_header_size() const { return is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr); }
    size_t symbol_size() const { return is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym); }
    /// False for a relocatable file without program headers. In any other file, sections that are
    /// loaded must not move.
    bool is_linked() const { return head.e_type != ET_REL || segments_end != 0; }
    /// Is the table of section names also a table of symbol names (as in LLVM's .strtab)?
    bool names_are_shared() const;
    Where place(uint32_t section) const; // "[12]" in place of an empty name

    /// The section's contents, decompressed if they are compressed: with the flag SHF_COMPRESSED,
    /// or in GNU's older scheme (.zdebug_info). Errors: a missing compression header, an unknown
    /// compression, damaged data, a size that is impossible or more than 4 GB.
    Result<SectionContents> contents(uint32_t section) const;

    /// The index of .symtab, or 0 if there is none. Error: there are two.
    Result<uint32_t> find_symtab() const;
    /// Number of entries of a symbol table. Errors: a wrong size of the table or of an entry; 2^31
    /// or more entries.
    Result<uint32_t> symbol_count(uint32_t symtab) const;

    /// Number of entries of a section of relocations. Errors: compact relocations (SHT_CREL); a
    /// wrong size of the section or of an entry.
    Result<size_t> reloc_count(uint32_t section) const;

    // The two parts of r_info. Their positions depend on the class; little-endian MIPS64 has
    // positions of its own.
    uint64_t reloc_info(uint32_t symbol, uint32_t type) const;
    uint32_t reloc_symbol(uint64_t info) const
    {
        if (!is64)
            return static_cast<uint32_t>(ELF32_R_SYM(info));
        return static_cast<uint32_t>(is_mips64el() ? info : ELF64_R_SYM(info));
    }
    /// For MIPS64: up to three types, the first of them in the lowest byte of the result.
    uint32_t reloc_type(uint64_t info) const
    {
        if (!is64)
            return static_cast<uint32_t>(ELF32_R_TYPE(info));
        return is_mips64el() ? byte_swap(static_cast<uint32_t>(info >> 32))
                             : static_cast<uint32_t>(ELF64_R_TYPE(info));
    }

private:
    bool is_mips64el() const // r_info is a struct there, not an integer
    {
        return head.e_machine == EM_MIPS && is64 && order == ByteOrder::little;
    }
};

/// `file` must outlive the ElfImage. `where` names the file. Errors: malformed headers; headers or
/// sections outside of the file (segments may be); sections that overlap many times; section names
/// that have no end, or are too long in total.
Result<ElfImage> read_elf(Bytes file, const Where &where);

bool is_elf(Bytes file);         // by the magic number
bool is_relocatable(Bytes file); // ELF of type ET_REL, by the header

/// Is it LLVM bitcode, which clang writes in place of ELF for link-time optimisation? Tests for the
/// magic numbers with and without wrapper (llvm.org, "LLVM Bitcode File Format").
bool is_bitcode(Bytes file);

/// The contents of the first note of this owner and type; empty if there is none. Searches
/// .note.gnu.build-id, whatever its section type, and all sections of type SHT_NOTE, because linker
/// scripts may merge them (a kernel's .notes).
Bytes find_note(const ElfImage &image, std::string_view owner, uint32_t type);

/// A file on disk and its sections.
struct ElfOnDisk {
    FileParts file; // keeps what `image` points into
    ElfImage image;
};
/// read_parts(), then read_elf().
Result<ElfOnDisk> open_elf(const std::string &path);

/// Writes a header in the file's class and byte order.
void put_elf_header(ByteWriter &out, const ElfImage &image, const Elf64_Ehdr &head);
void put_section_header(ByteWriter &out, const ElfImage &image, const Elf64_Shdr &head);

// elf_rewrite.cc: drops sections and everything that depends on them, renumbers the rest, lays the
// file out again.

/// Adds to `drop` the sections that are useless without the dropped ones: relocations of a dropped
/// section, groups without other members. Error: a malformed group.
Result<void> add_dependents(const ElfImage &image, std::vector<bool> &drop);

/// Does a section that is kept refer to a section in `drop`: by sh_link, by sh_info, as the section
/// of a symbol, or as a member of a group? Errors: malformed groups or symbol tables.
Result<bool> is_referenced(const ElfImage &image, const std::vector<bool> &drop);

constexpr uint32_t dropped_symbol = UINT32_MAX;

/// Drops sections and the symbols in them, and renumbers sections and symbols in all references.
/// Returns the new index of each symbol of .symtab, or dropped_symbol. Call add_dependents(drop)
/// first. If the table of section names is in `drop`, the caller must add a new one. Errors:
/// .symtab is in `drop`; something that stays refers to something that is dropped (except a group:
/// its dropped members are removed); malformed tables; overlapping sections; references that cannot
/// be renumbered.
Result<std::vector<uint32_t>> drop_sections(ElfImage &image, const std::vector<bool> &drop);

/// The file without section headers and dropped sections. Sections keep their order and are packed
/// as their alignment allows. In the first part of the file nothing moves, and even dropped
/// sections stay. This part is the ELF header and, in a linked file, everything up to the end of
/// the segments and loaded sections. Contents that replace() has set are written in this part, too.
/// Updates sh_offset of sections that move. The result refers to the file, not to `image`.
ByteParts lay_out(ElfImage &image);

// symbol_table.cc: symbols, decoded on access. A kernel has half a million, so no decoded table
// is kept.

/// Where a symbol is defined.
enum class Home : uint8_t { undefined, section, absolute, common };

struct Symbol {
    const char *text = ""; // its name, ended by NUL
    uint64_t value = 0;
    uint64_t size = 0;
    uint32_t section = 0; // 0 if home is not Home::section
    Home home = Home::undefined;
    uint8_t type = 0;    // STT_*
    uint8_t binding = 0; // STB_*

    std::string_view name() const { return text; } // computes the length
};

class SymbolTable
{
public:
    SymbolTable() = default;
    /// Errors: those of ElfImage::symbol_count(); a missing or too short table of names or of
    /// section indexes; a table of names that does not end with NUL; a symbol whose section does
    /// not exist; names that are too long in total.
    static Result<SymbolTable> open(const ElfImage &image, uint32_t section);

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// The section of type SHT_SYMTAB_SHNDX, with section indexes that do not fit into st_shndx; or
    /// 0.
    uint32_t extended_section() const { return extended_section_; }
    /// If the file has changed since open(), the result may be wrong, but its section exists, and
    /// its name is empty or begins in the table of names.
    Symbol operator[](size_t number) const;
    /// The value alone, but with the Thumb bit of an ARM function (operator[] clears it), and 0 for
    /// a common symbol.
    uint64_t value(size_t number) const
    {
        const Elf64_Sym symbol = record(number);
        return is_common(symbol.st_shndx) ? 0 : symbol.st_value;
    }

private:
    /// Does `section`, a value of st_shndx, mark a common symbol on this machine?
    bool is_common(uint16_t section) const
    {
        constexpr uint16_t x86_64_large_common = 0xff02; // not in all versions of <elf.h>
        return section == SHN_COMMON || (machine_ == EM_X86_64 && section == x86_64_large_common) ||
               (machine_ == EM_MIPS && section == SHN_MIPS_SCOMMON);
    }
    Elf64_Sym record(size_t number) const
    {
        const size_t size = is64_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
        return decode_symbol(records_.data() + number * size, is64_, order_);
    }

    size_t size_ = 0;
    Bytes records_, extended_;
    std::string_view names_;
    size_t sections_ = 0; // number of the file's sections
    uint32_t extended_section_ = 0;
    bool is64_ = true;
    uint16_t machine_ = EM_NONE;
    ByteOrder order_ = host_order;
};

// reloc_table.cc: the entries of a relocation section, decoded on access.

/// A decoded entry of SHT_REL or SHT_RELA.
struct RelocEntry {
    uint64_t offset;
    uint64_t info;
    int64_t addend; // 0 for SHT_REL, whose addends are in the section that is relocated
};

/// The entries of a relocation section, sorted by offset.
class RelocTable
{
public:
    RelocTable() = default;
    RelocTable(RelocTable &&) = default; // not copied: raw_ may point into sorted_
    RelocTable &operator=(RelocTable &&) = default;
    /// `raw`: whole entries. `rela`: whether they have addends (SHT_RELA).
    RelocTable(Bytes raw, bool is64, bool rela, ByteOrder order);
    /// Errors: those of ElfImage::reloc_count().
    static Result<RelocTable> read(const ElfImage &image, uint32_t section);

    size_t size() const { return count_; }
    RelocEntry operator[](size_t i) const
    {
        const std::byte *p = raw_.data() + i * entry_size_;
        if (is64_)
            return {load<uint64_t>(p, order_), load<uint64_t>(p + 8, order_),
                    rela_ ? static_cast<int64_t>(load<uint64_t>(p + 16, order_)) : 0};
        return {load<uint32_t>(p, order_), load<uint32_t>(p + 4, order_),
                rela_ ? static_cast<int32_t>(load<uint32_t>(p + 8, order_)) : 0};
    }
    uint64_t offset(size_t i) const
    {
        const std::byte *p = raw_.data() + i * entry_size_;
        return is64_ ? load<uint64_t>(p, order_) : load<uint32_t>(p, order_);
    }
    /// Like find(), but searches one by one from index `i` on.
    size_t skip_before(size_t i, uint64_t offset) const
    {
        while (i < count_ && this->offset(i) < offset)
            ++i;
        return i;
    }
    /// Index of the first entry at or after `offset`; size() if there is none.
    size_t find(uint64_t offset) const;
    bool is_at(size_t i, uint64_t offset) const { return i < count_ && this->offset(i) == offset; }

private:
    Bytes raw_;
    std::vector<std::byte> sorted_; // empty if the file's entries are in order
    size_t entry_size_ = 1, count_ = 0;
    bool is64_ = true, rela_ = true;
    ByteOrder order_ = host_order;
};

/// A relocation of an absolute address: the value to be written is symbol + addend.
struct Reloc {
    uint64_t offset = 0; // in the section
    uint32_t symbol = 0; // index into the file's symbols
    int64_t addend = 0;
};

/// The relocations of an image, by the section to which they apply.
class AbsoluteRelocs
{
public:
    /// `image` must outlive the result. Errors: those of find_symtab() and symbol_count().
    static Result<AbsoluteRelocs> open(const ElfImage &image);
    /// The relocations of a section with these contents, sorted by offset, without R_*_NONE.
    /// `width`: bytes that each relocation fills. Errors: a relocation that is_absolute() rejects,
    /// that is outside of the section, or that names a symbol that does not exist; an unknown
    /// architecture; those of RelocTable::read().
    Result<std::vector<Reloc>> of(uint32_t section, Bytes contents, uint8_t width) const;

private:
    Result<void> add(uint32_t table, Bytes contents, uint8_t width, std::vector<Reloc> &out) const;

    const ElfImage *image_ = nullptr;
    uint32_t symbols_ = 0;                              // number of symbols
    std::vector<std::pair<uint32_t, uint32_t>> tables_; // section, table; sorted
};

} // namespace btflink
