// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens a file with libdw. DwarfFile has decompressed the debug sections, and joined those of type
// units: an object has one section per type unit, which libdw does not support. LibdwFile applies
// the relocations.
#pragma once

#include "emit/dwarf/dwarf_file.h"

#include <elfutils/libdw.h>
#include <functional>
#include <string>
#include <unordered_map>

namespace btflink::emit
{

class LibdwFile
{
public:
    /// `file` must outlive the result, and have DWARF. `debug_dir`: see find_alternate().
    static Result<std::unique_ptr<LibdwFile>> open(const DwarfFile &file,
                                                   const std::string &debug_dir);
    LibdwFile(const LibdwFile &) = delete;
    LibdwFile &operator=(const LibdwFile &) = delete;
    ~LibdwFile();

    Dwarf *dwarf() const { return dwarf_; }
    const DwarfFile &elf() const { return file_; }

    /// The number of an entry, which takes the place of its offset in trees. Entries in .debug_info
    /// have their offsets as numbers. The numbers of .debug_types follow, then those of the
    /// alternate file. In each file of split DWARF numbers begin at 0 again, because its units do
    /// not refer to other files. Returns 0 for a number of UINT32_MAX or more.
    uint32_t number_of(Dwarf_Die &die);

    // address_of() and address_in_info() return nullopt if there is no address: for example, in a
    // relocatable file, if the place has no relocation.

    /// The address in DW_FORM_addr, DW_FORM_addrx* or DW_FORM_GNU_addr_index. `addr_base`: where
    /// the unit's part of .debug_addr begins.
    std::optional<AddressRef> address_of(const Dwarf_Attribute &attr, uint64_t addr_base) const;
    /// The address in the operand of DW_OP_addr.
    std::optional<AddressRef> address_in_info(const unsigned char *operand) const;

    /// Notes the path that `skeleton` gives for the file with the unit `split`, for place().
    void name_split(Dwarf_Die &skeleton, Dwarf_Die &split);
    /// The place of an entry, which may be in the alternate file or in a file of split DWARF.
    Where place(Dwarf_Die &die) const;
    /// An error at an entry, with libdw's reason if there is one.
    Failure dwarf_error(Dwarf_Die &die, std::string_view what) const;

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
    std::unordered_map<Dwarf *, std::string> split_paths_;
    // The file of split DWARF whose .debug_types.dwo was numbered last, and the number that stands
    // for offset 0 of that section.
    Dwarf *split_ = nullptr;
    uint64_t split_types_at_ = 0;
};

/// The string value of an attribute; nullptr if the entry has none, or libdw cannot read it.
const char *string_attribute(Dwarf_Die &die, unsigned attribute);

/// Is the unit empty: is the code of its own entry 0, or does the unit have only a header?
/// (dwarf_tag() cannot tell: it fails in both cases, but also if the code is not in the table of
/// abbreviations.) Precondition: libdw knows the type of the unit.
bool is_empty(const Dwarf_Die &unit);

struct LibdwUnit {
    Dwarf_Die die{};
    uint64_t addr_base = 0; // where its part of .debug_addr begins
};

/// Appends the entries below the unit's own entry to `tree`. Calls on_foreign_entry(entry) at each
/// reference to an entry of another unit, and at each import of a unit.
Result<void> read_entries(LibdwFile &file, LibdwUnit unit,
                          const std::function<void(Dwarf_Die &)> &on_foreign_entry, DieTree &tree,
                          Skips &skips);

} // namespace btflink::emit
