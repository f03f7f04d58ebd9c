// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// One file as libdw sees it. Things that libdw cannot do are done beforehand: relocations are
// applied, sections are decompressed, and the sections of type units (one per type) are joined.
#pragma once

#include "emit/dwarf/debug_files.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <map>
#include <string>

namespace btflink::emit
{

class LibdwFile
{
public:
    /// `file` must outlive the result, and have DWARF. `debug_dir`: see debug_files.h.
    static Result<std::unique_ptr<LibdwFile>> open(const DwarfFile &file,
                                                   const std::string &debug_dir);
    LibdwFile(const LibdwFile &) = delete;
    LibdwFile &operator=(const LibdwFile &) = delete;
    ~LibdwFile();

    Dwarf *dwarf() const { return dwarf_; }
    /// The file into which dwz put what several files share; nullptr if there is none.
    Dwarf *alternate() const { return alternate_ ? alternate_->dwarf() : nullptr; }
    const DwarfFile &elf() const { return file_; }

    /// The address in DW_FORM_addr or DW_FORM_addrx* at `attr`, or in the DW_OP_addr operand at
    /// `operand`. Empty if it has no relocation in a relocatable file. `addr_base`: where the
    /// unit's part of .debug_addr begins.
    std::optional<AddressRef> address_of(const Dwarf_Attribute &attr, uint64_t addr_base) const;
    std::optional<AddressRef> address_in_info(const unsigned char *operand) const;
    std::optional<AddressRef> address_in_pool(uint64_t index, uint64_t addr_base) const;

    /// Error about the DIE (or byte) at `offset` of .debug_info, with libdw's reason.
    Failure dwarf_error(uint64_t offset, std::string_view what) const;

private:
    struct Reloc {
        uint64_t offset;
        int64_t addend;
        uint32_t symbol;
    };
    /// All that the file has of one section's name.
    struct Contents {
        Bytes bytes;
        std::vector<std::byte> own; // `bytes`, where they are not the file's
        std::vector<Reloc> relocs;  // by offset
        bool grouped = false;       // so far only of section groups
    };
    /// Where a section of the file went to.
    struct Piece {
        Contents *contents;
        uint64_t base, size;
    };
    struct Symbol {
        uint64_t value;
        uint32_t section;
        bool common, weak;
    };

    explicit LibdwFile(const DwarfFile &file) : file_(file) {}
    Result<void> start();
    Result<void> read_sections();
    Result<void> take(uint32_t index, const std::string &name);
    Result<void> read_symbols();
    Result<void> relocate(uint32_t rel_index);
    Result<void> start_libdw();
    Result<void> open_alternate(const std::string &debug_dir);
    std::optional<AddressRef> lookup(const Contents &section, uint64_t offset) const;

    const DwarfFile &file_;
    DebugFile alternate_file_;
    std::unique_ptr<LibdwFile> alternate_;
    Elf *elf_ = nullptr;       // the file
    Elf *plain_elf_ = nullptr; // what libdw reads, if it is not the file
    std::vector<std::byte> plain_;
    Dwarf *dwarf_ = nullptr;
    bool as_in_file_ = true; // nothing had to be done for libdw
    std::vector<Symbol> symbols_;
    std::map<std::string, Contents, std::less<>> contents_; // by name
    std::map<uint32_t, Piece> pieces_;                      // by number of section
    const Contents *info_ = nullptr, *addr_ = nullptr;
    const unsigned char *info_at_ = nullptr; // where libdw has .debug_info
};

} // namespace btflink::emit
