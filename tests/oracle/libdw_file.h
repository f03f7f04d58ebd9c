// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The slow, plain way to read DWARF, as a second opinion: libelf finds, decompresses and relocates
// the debug sections, libdw decodes them. Made for comparison with emit/, of which it shares no
// code that reads.
#pragma once

#include "emit/dwarf/dwarf_file.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace btflink::oracle
{

using emit::AddressRef;

class LibdwFile
{
public:
    /// `bytes` (the whole file) must outlive the result. They are changed in place: decompressed
    /// and relocated debug sections may live there.
    static Result<std::unique_ptr<LibdwFile>> open(std::span<std::byte> bytes, Where where);
    LibdwFile(const LibdwFile &) = delete;
    LibdwFile &operator=(const LibdwFile &) = delete;
    ~LibdwFile();

    Dwarf *dwarf() const { return dwarf_; } // nullptr: no DWARF in the file
    const Arch &arch() const { return *arch_; }
    ByteOrder order() const { return order_; }
    bool relocatable() const { return relocatable_; }
    const Where &where() const { return where_; }
    /// Does the ELF note (owner "Linux", type 0x101) say that the file is a product of link-time
    /// optimisation?
    bool lto_note() const { return lto_note_; }

    struct Section {
        std::string name;
        uint32_t type = 0;
        uint64_t flags = 0, address = 0, size = 0;
    };
    const std::vector<Section> &sections() const { return sections_; }

    /// The address in DW_FORM_addr or DW_FORM_addrx* at `attr`, or in the DW_OP_addr(x) operand at
    /// `operand`. Empty if it has no relocation in a relocatable file.
    std::optional<AddressRef> address_of(Dwarf_Attribute &attr) const;
    std::optional<AddressRef> address_in_info(const unsigned char *operand) const;
    /// `attr`: any attribute of the unit that the index belongs to.
    std::optional<AddressRef> address_in_pool(uint64_t index, const Dwarf_Attribute &attr) const;

    /// Error about the DIE (or byte) at `offset` of .debug_info, with libdw's reason.
    tl::unexpected<Error> dwarf_error(uint64_t offset, std::string_view what) const;

private:
    struct Reloc {
        uint64_t offset;
        int64_t addend;
        uint32_t symbol;
    };
    struct DebugSection {
        const unsigned char *data = nullptr;
        uint64_t size = 0;
        std::vector<Reloc> relocs; // by offset; kept for .debug_info and .debug_addr only
    };

    LibdwFile(Where where) : where_(std::move(where)) {}
    Result<void> read_sections();
    Result<void> read_symbols();
    Result<void> relocate(Elf_Scn *rel_scn, const GElf_Shdr &rel, std::vector<Reloc> *keep);
    std::optional<AddressRef> lookup(const DebugSection &section, uint64_t offset,
                                     uint8_t size) const;

    Where where_;
    Elf *elf_ = nullptr;
    Dwarf *dwarf_ = nullptr;
    const Arch *arch_ = nullptr;
    ByteOrder order_ = host_order;
    bool relocatable_ = false;
    bool lto_note_ = false;
    std::vector<Section> sections_;
    struct Symbol {
        uint64_t value;
        uint32_t section;
        bool common, weak;
    };
    std::vector<Symbol> symbols_;
    DebugSection info_, addr_;
};

} // namespace btflink::oracle
