// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens a file with libdw. DwarfFile has done what libdw does not support: it has decompressed all
// sections, and joined the sections of type units, of which an object has one per type. LibdwFile
// applies the relocations.
#pragma once

#include "emit/dwarf/dwarf_file.h"

#include <elfutils/libdw.h>
#include <functional>
#include <string>

namespace btflink::emit
{

class LibdwFile
{
public:
    /// `file` must outlive the result, and have DWARF. `debug_dir`: see find_separate().
    static Result<std::unique_ptr<LibdwFile>> open(const DwarfFile &file,
                                                   const std::string &debug_dir);
    LibdwFile(const LibdwFile &) = delete;
    LibdwFile &operator=(const LibdwFile &) = delete;
    ~LibdwFile();

    Dwarf *dwarf() const { return dwarf_; }
    const DwarfFile &elf() const { return file_; }

    /// Numbers the entries of a file in order: offsets in .debug_info, then those in .debug_types,
    /// then those of the alternate file. Units of a file of split DWARF do not refer to other
    /// files, so their numbers begin at 0 again. Returns 0 if the number exceeds 32 bits.
    uint32_t number_of(Dwarf_Die &die);

    // These return nullopt for an address without relocation in a relocatable file. `addr_base`:
    // where the unit's part of .debug_addr begins.

    /// The address in DW_FORM_addr or DW_FORM_addrx*.
    std::optional<AddressRef> address_of(const Dwarf_Attribute &attr, uint64_t addr_base) const;
    /// The address in the operand of DW_OP_addr.
    std::optional<AddressRef> address_in_info(const unsigned char *operand) const;

    /// An error at `offset` of .debug_info, with libdw's reason.
    Failure dwarf_error(uint64_t offset, std::string_view what) const;

private:
    explicit LibdwFile(const DwarfFile &file) : file_(file) {}
    Result<void> start();
    Result<std::vector<std::byte>> make_plain() const;
    Result<void> open_alternate(const std::string &debug_dir);
    uint64_t first_number(Dwarf_CU *unit);

    const DwarfFile &file_;
    DebugFile alternate_file_;
    std::unique_ptr<LibdwFile> alternate_; // has the parts that dwz moved out of several files
    std::vector<std::byte> plain_;         // the file that libdw reads
    Elf *elf_ = nullptr;
    Dwarf *dwarf_ = nullptr;
    const unsigned char *info_at_ = nullptr; // where libdw has .debug_info
    Dwarf *split_ = nullptr;                 // the last file of split DWARF with .debug_types.dwo
    uint64_t split_types_at_ = 0;            // the number of the first entry of that section
};

struct LibdwUnit {
    Dwarf_Die die{};
    uint64_t addr_base = 0; // of its part of .debug_addr
};

/// Appends the entries of `unit` to `tree`. `on_foreign_entry` is called for each entry of another
/// unit that this unit refers to or imports.
Result<void> read_entries(LibdwFile &file, LibdwUnit unit,
                          const std::function<void(Dwarf_Die &)> &on_foreign_entry, DieTree &tree,
                          Skips &skips);

} // namespace btflink::emit
