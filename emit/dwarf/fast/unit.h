// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The parts of the fast reader and what they share: abbreviations, units, split DWARF in other
// files, locations, entries.
#pragma once

#include "emit/dwarf/debug_cursor.h"
#include "emit/dwarf/die_attributes.h"
#include "emit/dwarf/dwarf_file.h"
#include "emit/dwarf/dwarf_reader.h"
#include "emit/tree/die_tree.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace btflink::emit
{

// abbrev.cc: abbreviations (DWARF 5, section 7.5.3), compiled into steps: the attributes that BTF
// needs, and how many bytes of other attributes (line numbers, alignments ...) precede each.

/// What the sizes of forms depend on: the version of DWARF, and the sizes of addresses and offsets.
struct UnitWidths {
    uint16_t version = 5;
    uint8_t address = 8;
    uint8_t offset = 4; // of DW_FORM_sec_offset, strp ...: 4, in 64-bit DWARF 8
    bool operator==(const UnitWidths &) const = default;
};

/// The size of a value of `form`; -1 if the size depends on the value, or the form is unknown.
int fixed_form_size(uint32_t form, const UnitWidths &widths);

/// Skip `skip` bytes, then read a value of `form`. The last step may only skip.
struct AbbrevStep {
    uint16_t attribute = 0; // DW_AT_*; 0: the value is not needed, but decoded to find its end
    uint16_t form = 0;      // DW_FORM_*; 0: the last step, without a value
    uint32_t skip = 0;
    int64_t implicit = 0; // the value, for DW_FORM_implicit_const
};

struct Abbrev {
    uint16_t tag = 0;
    bool known = false, children = false;
    bool declares = false;      // has DW_AT_declaration, or is a static member of C++
    bool has_signature = false; // stands for a type in a type unit (DW_AT_signature, split DWARF)
    uint32_t first = 0;         // index of the first step in the AbbrevTable
    uint32_t count = 0;         // of steps
};

class AbbrevTable
{
public:
    /// Parses the table at `offset` of .debug_abbrev.
    static Result<AbbrevTable> parse(const DwarfFile &file, uint64_t offset,
                                     const UnitWidths &widths);

    /// nullptr: not in the table.
    const Abbrev *find(uint64_t code) const
    {
        if (code < dense_.size())
            return dense_[code].known ? &dense_[code] : nullptr;
        auto it = sparse_.find(code);
        return it == sparse_.end() ? nullptr : &it->second;
    }
    const AbbrevStep *steps(uint32_t first) const { return steps_.data() + first; }
    /// May an entry refer to another unit (DW_FORM_ref_addr)?
    bool uses_ref_addr() const { return uses_ref_addr_; }
    uint64_t bytes() const { return bytes_; }

private:
    Result<Abbrev> read(DebugCursor &in, const DwarfFile &file, const UnitWidths &widths,
                        uint64_t at);
    void add(uint64_t code, const Abbrev &abbrev);

    std::vector<Abbrev> dense_; // by code; compilers count from 1
    // Not a hash table: a hostile file could have codes that collide. For the same reason, the maps
    // by id and by signature below are ordered.
    std::map<uint64_t, Abbrev> sparse_;
    std::vector<AbbrevStep> steps_;
    bool uses_ref_addr_ = false;
    uint64_t bytes_ = 0; // in .debug_abbrev
};

class SplitFiles;
struct TypeUnit;
/// The type units of a file of split DWARF, by signature.
using TypeUnits = std::map<uint64_t, TypeUnit>;

/// A unit: what its header says, and for a compile unit also what its own entry says.
struct Unit : UnitHead {
    const DwarfFile *file = nullptr; // the same as UnitHead::file
    uint64_t die_offset = 0;         // of the unit's own entry
    uint64_t end = 0;                // offset of the unit's end
    UnitWidths widths;
    uint64_t abbrev_offset = 0;
    std::shared_ptr<const AbbrevTable> abbrevs; // null for most units of an image, to save memory
    uint64_t str_offsets_base = 0, addr_base = 0, loclists_base = 0, rnglists_base = 0;
    uint64_t loc_base = 0; // split DWARF: where the unit's part of .debug_loc(lists) begins
    // Split DWARF: whether the unit is a skeleton, and where its split unit is.
    bool is_skeleton = false;         // by DW_AT_dwo_name; list_units() looks at the header, too
    std::optional<AddressRef> low_pc; // base of range lists
    const char *dwo_name = nullptr, *comp_dir = nullptr;
    uint64_t dwo_id = 0;
    const TypeUnits *types = nullptr; // the type units to which entries may refer

    /// Entry `index` of the unit's part of .debug_addr.
    std::optional<AddressRef> indexed_address(uint64_t index) const
    {
        return file->with_addresses().indexed_address(index, addr_base);
    }
};

/// Compiles tables of abbreviations. Successive units often share a table.
class Abbrevs
{
public:
    /// Sets `unit.abbrevs` and `unit.refers_to_other_units`, unless they are set already. Errors: a
    /// malformed or missing table; long tables are read too often (SharedReads).
    Result<void> attach(Unit &unit);

private:
    Unit last_; // has the table that was used last
    SharedReads reads_;
};

struct TypeUnit {
    Unit unit;
    uint32_t type = 0; // offset of the type's entry
};

/// The type unit with this signature in `unit.types`; nullptr: there is none.
inline const TypeUnit *find_type(const Unit &unit, uint64_t signature)
{
    if (!unit.types)
        return nullptr;
    auto found = unit.types->find(signature);
    return found == unit.types->end() ? nullptr : &found->second;
}

// units.cc: headers of units, and their own entries.

/// All compile units of the file, in order. A skeleton unit is replaced by its split unit, which
/// `splits` finds. `skips` counts units that are left out, but not those without entries.
Result<std::vector<Unit>> list_units(const DwarfFile &file, SplitFiles &splits, Skips &skips);

/// Where the parts of a unit of split DWARF begin in their sections. In a .dwp file the index has
/// these offsets. In a .dwo file they are 0, and at[info] is not used.
struct SplitPlace {
    /// Columns of the index. GNU's form and DWARF 5 agree in those used here, except for `types`,
    /// which DWARF 5 does not have, and `rnglists`.
    enum Part : uint32_t {
        info = 1,
        types = 2, // GNU: .debug_types
        abbrev = 3,
        loc = 5, // .debug_loc or .debug_loclists
        str_offsets = 6,
        rnglists = 8, // GNU: macros
    };
    const DwarfFile *file = nullptr;
    uint64_t at[rnglists + 1] = {}; // by Part
};

/// Units of a file of split DWARF. Compile units of a .dwp file are not here; they are read when
/// they are needed (read_split_unit()).
struct SplitUnits {
    TypeUnits types;
    std::map<uint64_t, Unit> units; // compile units by id
};
/// All units of a .dwo file.
Result<SplitUnits> list_split_units(const DwarfFile &file);

/// The compile unit at `place` of a .dwp file. Empty if there is none.
Result<std::optional<Unit>> read_split_unit(const SplitPlace &place, Abbrevs &abbrevs);
/// The type unit at `place` of a .dwp file.
Result<TypeUnit> read_type_unit(const SplitPlace &place);
/// Sets the abbreviations and the language of a type unit.
Result<void> read_language(Unit &type_unit, Abbrevs &abbrevs);

// split_files.cc

/// Finds the split units of skeleton units: in a package next to the linked file (.dwp), in one
/// file per object (.dwo), or in the file with the skeletons. A package has an index (DWARF 5,
/// section 7.3.5, and GNU's earlier form).
class SplitFiles
{
public:
    explicit SplitFiles(const DwarfFile &skeletons) : skeletons_(skeletons) {}

    /// The split unit of `skeleton`, or nothing.
    Result<std::optional<Unit>> find(const Unit &skeleton);

private:
    struct OpenFile {
        FileParts parts;
        std::unique_ptr<DwarfFile> file; // nullptr: not there, or without split DWARF
        SplitUnits list;
        std::map<uint64_t, SplitPlace> places; // of a package's compile units, by id
    };
    Result<const OpenFile *> open(const std::string &path);
    /// The split unit of `skeleton` in the file at this path, or nothing.
    Result<std::optional<Unit>> find_in(const std::string &path, const Unit &skeleton);

    const DwarfFile &skeletons_;
    // By device and inode: a file has any number of paths, such as x.dwo and ./x.dwo.
    std::map<std::pair<uint64_t, uint64_t>, OpenFile> opened_;
    Abbrevs abbrevs_;           // of units in packages
    uint64_t spare_ = 64 << 20; // the bytes of units that may still be found; see find_in()
};

// location.cc: location expressions and lists (DWARF 5, sections 2.5, 2.6, 7.7), as far as BTF
// needs them.

/// A location or a member offset: an expression (bytes of .debug_info), or a list elsewhere.
struct LocationAttr {
    enum Kind : uint8_t { none, expression, list } kind = none;
    uint64_t offset = 0; // expression: of its first byte in .debug_info; list: in .debug_loc(lists)
    uint64_t size = 0;   // expression: bytes
};

/// Where a parameter is when its function is entered.
ParamLocation decode_param_location(const Unit &unit, const LocationAttr &location);

/// The address of a variable whose location is DW_OP_addr or DW_OP_addrx, perhaps plus a constant
/// (clang merges globals into one symbol). Empty for variables in registers, thread-local ones, and
/// those that were optimised away.
std::optional<AddressRef> decode_fixed_address(const Unit &unit, const LocationAttr &location);

/// A constant member offset in the form of an expression: a lone DW_OP_plus_uconst or DW_OP_constu.
Constant decode_member_offset(const Unit &unit, const LocationAttr &location);

// die_reader.cc

/// References of entries to type units.
struct TypeReferences {
    std::vector<const TypeUnit *> type_units; // may contain duplicates
    // Offset of an entry with DW_AT_signature -> offset of its type; 0: unknown.
    std::unordered_map<uint32_t, uint32_t> signatures;
};

/// Appends the entries of a unit to `tree`, and their references to type units to `types`. The unit
/// must have its abbreviations.
Result<void> read_entries(const Unit &unit, DieTree &tree, TypeReferences &types, Skips &skips);

} // namespace btflink::emit
