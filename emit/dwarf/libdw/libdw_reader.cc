// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The DWARF reader for what fast/ does not read: reads units into trees by means of libdw.
//
// Problem. Entries that a compile unit needs may be elsewhere: types in type units, shared entries
// in partial units or in another file (dwz), everything except addresses in a .dwo file (split
// DWARF). But BTF of a unit is made from one tree.
//
// Method. The tree of a unit has the unit's own entries and, recursively, all entries of each unit
// that these import or refer to. A compile unit that is read only because of such a reference
// contributes only types: its functions and variables are in its own tree. The tree of the first
// chosen compile unit of a language also has all type units of the language (except those of split
// DWARF), because a type unit may have a type to which nothing refers.
//
// Invariant. Parts of a tree are in the order of their entries' numbers (LibdwFile::number_of), so
// the order of reading does not matter.
//
// Cost. Linear in the entries of a tree if they have DW_AT_sibling. Without it (clang), libdw walks
// through all entries below an entry to find its sibling, so an entry is visited once for each
// entry above it. A unit that several trees need is read for each of them.
#include "emit/dwarf/debug_cursor.h"
#include "emit/dwarf/dwarf_reader.h"
#include "emit/dwarf/languages.h"
#include "emit/dwarf/libdw/libdw_file.h"

#include <algorithm>
#include <dwarf.h>
#include <mutex>
#include <set>

namespace btflink::emit
{

namespace
{

class LibdwReader : public DwarfReader
{
public:
    explicit LibdwReader(std::unique_ptr<LibdwFile> file)
        : DwarfReader(file->elf().arch()), file_(std::move(file))
    {
    }

    Result<void> list(Skips &skips);
    Result<DieTree> read_entries(std::span<const uint32_t> units, Skips &skips) const override;

private:
    void add_split(Dwarf_Die skeleton, Dwarf_Die unit);
    void add_type_unit(Dwarf_Die unit);
    UnitHead head_of(LibdwUnit unit) const;
    unsigned version_at(uint64_t offset) const;
    Failure cannot_read(size_t number) const;

    std::unique_ptr<LibdwFile> file_;
    std::vector<LibdwUnit> units_;
    std::map<FileLanguage, std::vector<Dwarf_Die>> type_units_;
    bool partial_units_ = false;
    mutable std::mutex mutex_; // libdw caches without locks
};

/// 0 if there is no attribute.
uint64_t number_attribute(Dwarf_Die unit, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Word value = 0;
    if (unit.cu && dwarf_attr(&unit, name, &attr))
        dwarf_formudata(&attr, &value);
    return value;
}

uint64_t addr_base_of(Dwarf_Die unit)
{
    const uint64_t base = number_attribute(unit, DW_AT_addr_base);
    return base ? base : number_attribute(unit, DW_AT_GNU_addr_base);
}

/// Are the unit's entries in a file of split DWARF?
bool names_split_file(Dwarf_Die unit)
{
    return unit.cu &&
           (dwarf_hasattr(&unit, DW_AT_dwo_name) || dwarf_hasattr(&unit, DW_AT_GNU_dwo_name));
}

/// The file of split DWARF that the unit names; null if it names none, or if libdw cannot read the
/// name.
const char *split_file_of(Dwarf_Die unit)
{
    if (!unit.cu)
        return nullptr;
    const char *name = string_attribute(unit, DW_AT_dwo_name);
    return name ? name : string_attribute(unit, DW_AT_GNU_dwo_name);
}

/// Does an abbreviation of the unit use DW_FORM_ref_addr?
bool uses_ref_addr(Dwarf_Die unit)
{
    size_t length = 0;
    for (Dwarf_Off offset = 0;; offset += length) {
        Dwarf_Abbrev *abbrev = dwarf_getabbrev(&unit, offset, &length);
        if (!abbrev || abbrev == DWARF_END_ABBREV)
            return false;
        size_t count = 0;
        dwarf_getattrcnt(abbrev, &count);
        for (size_t i = 0; i < count; ++i) {
            unsigned name = 0, form = 0;
            if (dwarf_getabbrevattr(abbrev, i, &name, &form, nullptr) == 0 &&
                form == DW_FORM_ref_addr)
                return true;
        }
    }
}

/// Does a function of the unit have its abstract instance in another compile unit? Link-time
/// optimisation puts the instance there.
bool has_origin_elsewhere(Dwarf_Die unit)
{
    Dwarf_Die child;
    for (int rc = dwarf_child(&unit, &child); rc == 0; rc = dwarf_siblingof(&child, &child)) {
        Dwarf_Attribute attr;
        Dwarf_Die origin, home;
        if (dwarf_tag(&child) == DW_TAG_subprogram &&
            dwarf_attr(&child, DW_AT_abstract_origin, &attr) && dwarf_formref_die(&attr, &origin) &&
            origin.cu != child.cu &&
            dwarf_cu_info(origin.cu, nullptr, nullptr, &home, nullptr, nullptr, nullptr, nullptr) ==
                0 &&
            dwarf_tag(&home) == DW_TAG_compile_unit)
            return true;
    }
    return false;
}

uint16_t language_of(Dwarf_Die unit)
{
    return static_cast<uint16_t>(std::max(dwarf_srclang(&unit), 0)); // -1: not stated
}

UnitHead LibdwReader::head_of(LibdwUnit unit) const
{
    UnitHead head;
    head.name = usual_path(dwarf_diename(&unit.die));
    head.clang = is_clang(string_attribute(unit.die, DW_AT_producer));
    head.offset = file_->number_of(unit.die);
    head.file = dwarf_cu_getdwarf(unit.die.cu);
    head.is_split = head.file != file_->dwarf();
    head.language = language_of(unit.die);
    // In a file with partial units, most references by DW_FORM_ref_addr lead to partial units.
    head.refers_to_other_units =
        uses_ref_addr(unit.die) && (!partial_units_ || has_origin_elsewhere(unit.die));
    return head;
}

/// The version of DWARF in the header of the unit at `offset` of .debug_info; 5 if the header is
/// cut off.
unsigned LibdwReader::version_at(uint64_t offset) const
{
    const Bytes info = file_->elf().info.data;
    DebugCursor in(info, offset, info.size(), file_->elf().order());
    if (in.read<uint32_t>() == UINT32_MAX) // 64-bit DWARF
        in.skip(8);
    const auto version = in.read<uint16_t>();
    return in.overrun() ? 5 : version;
}

/// The error for unit `number` of the file, which libdw cannot read. libdw gives the reason but not
/// the place, so this walks to the unit: through .debug_info, then through .debug_types. In
/// .debug_types, libdw reads only version 4; clang also writes versions 2 and 3 there, which no
/// debugger reads.
Failure LibdwReader::cannot_read(size_t number) const
{
    const char *reason = dwarf_errmsg(0);
    const char *section = ".debug_info";
    Dwarf_Off at = 0, next = 0;
    uint64_t signature = 0;
    uint64_t *only_types = nullptr; // if set, dwarf_next_unit() walks through .debug_types
    size_t header_size = 0;
    while (number > 0 || !only_types) {
        int rc = dwarf_next_unit(file_->dwarf(), at, &next, &header_size, nullptr, nullptr, nullptr,
                                 nullptr, only_types, nullptr);
        if (rc == 0 && number > 0) {
            at = next;
            --number;
        } else if (rc > 0 && !only_types) {
            section = ".debug_types";
            at = 0;
            only_types = &signature;
        } else {
            break;
        }
    }
    const Where where = file_->elf().where().in(section).at(at);
    if (const unsigned version = version_at(at); !only_types && (version < 2 || version > 5))
        return fail(where, strf("DWARF version %u is not supported (2 to 5 are)", version));
    return fail(where,
                std::string("cannot read a unit") + (reason ? std::string(": ") + reason : ""));
}

void LibdwReader::add_split(Dwarf_Die skeleton, Dwarf_Die unit)
{
    units_.push_back({unit, addr_base_of(skeleton)});
    file_->name_split(skeleton, unit);
}

void LibdwReader::add_type_unit(Dwarf_Die unit)
{
    type_units_[{dwarf_cu_getdwarf(unit.cu), language_of(unit)}].push_back(unit);
}

Result<void> LibdwReader::list(Skips &skips)
{
    Dwarf_CU *cu = nullptr, *next = nullptr;
    for (size_t number = 0;; cu = next, ++number) {
        Dwarf_Die die{}, split{};
        Dwarf_Half version = 0;
        uint8_t type = 0;
        int rc = dwarf_get_units(file_->dwarf(), cu, &next, &version, &type, &die, &split);
        if (rc > 0)
            break;
        if (rc < 0)
            return cannot_read(number);
        const int tag = die.cu ? dwarf_tag(&die) : DW_TAG_invalid;
        if (die.cu && is_empty(die))
            continue;
        // For a type unit, libdw returns the type's entry as `split`.
        if (split.cu && type == DW_UT_skeleton)
            add_split(die, split);
        else if (type == DW_UT_skeleton || names_split_file(die))
            ++skips[skip_without(split_file_of(die), number_attribute(die, DW_AT_GNU_dwo_id))];
        else if (type == DW_UT_compile && tag == DW_TAG_compile_unit)
            units_.push_back({die, addr_base_of(die)});
        else if (tag == DW_TAG_partial_unit)
            partial_units_ = true;
        else if (tag == DW_TAG_type_unit)
            add_type_unit(die);
        else
            ++skips[Skip::unknown_unit];
    }
    for (const LibdwUnit &unit : units_)
        heads_.push_back(head_of(unit));
    return {};
}

/// Reads units, with all units that they need, into one tree.
class LibdwTreeReader
{
public:
    LibdwTreeReader(LibdwFile &file, Skips &skips) : file_(file), skips_(skips) {}

    /// Announces a unit that will be added, so that references to it do not add it again.
    void expect(const LibdwUnit &unit) { seen_.insert(unit.die.cu); }

    Result<void> add(LibdwUnit unit)
    {
        auto [place, is_new] = parts_.try_emplace(file_.number_of(unit.die));
        if (!is_new) // in each file of split DWARF numbers begin at 0 again
            return fail(file_.elf().where().in(".debug_info"),
                        "units of several files cannot be read as one");
        DieTree &part = place->second;
        part.dies.emplace_back();
        auto on_foreign_entry = [&](Dwarf_Die &target) { want(target); };
        return read_entries(file_, unit, on_foreign_entry, part, skips_);
    }

    Result<DieTree> finish()
    {
        while (!wanted_.empty()) {
            LibdwUnit unit{wanted_.back()};
            wanted_.pop_back();
            TRY(add(unit));
            DieTree &part = parts_.at(file_.number_of(unit.die));
            if (dwarf_tag(&unit.die) == DW_TAG_compile_unit)
                part.drop_functions_and_variables();
            else if (dwarf_tag(&unit.die) == DW_TAG_type_unit)
                part.drop_specified();
        }
        DieTree tree = std::move(parts_.begin()->second);
        parts_.erase(parts_.begin());
        for (const auto &[number, part] : parts_) {
            // In damaged DWARF the numbers of two units may overlap: libdw takes, for example, a
            // type unit of DWARF 4 in .debug_info for one in .debug_types. DieTree needs the order.
            if (part.dies.size() > 1 && part.dies[1].offset <= tree.dies.back().offset)
                return fail(file_.elf().where().in(".debug_info"),
                            "a type unit of DWARF 4 is not in .debug_types, or a length is wrong");
            tree.append(part);
        }
        return tree;
    }

    /// Makes finish() add the unit that has the entry `target`, unless the unit is expected, added
    /// or wanted already.
    void want(Dwarf_Die &target)
    {
        if (!seen_.insert(target.cu).second)
            return;
        Dwarf_Die unit;
        if (dwarf_cu_info(target.cu, nullptr, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) ==
            0)
            wanted_.push_back(unit);
    }

private:
    LibdwFile &file_;
    Skips &skips_;
    std::map<uint32_t, DieTree> parts_; // by the number of the unit's entry
    std::set<Dwarf_CU *> seen_;
    std::vector<Dwarf_Die> wanted_;
};

Result<DieTree> LibdwReader::read_entries(std::span<const uint32_t> units, Skips &skips) const
{
    std::lock_guard lock(mutex_);
    LibdwTreeReader reader(*file_, skips);
    for (uint32_t i : units) // first, because units may refer to later ones
        reader.expect(units_[i]);
    for (uint32_t i : units)
        TRY(reader.add(units_[i]));
    const void *file = heads_[units.front()].file;
    auto types = type_units_.lower_bound({file, 0});
    for (; types != type_units_.end() && types->first.file == file; ++types)
        if (get_types(units, types->first))
            for (Dwarf_Die unit : types->second)
                reader.want(unit);
    return reader.finish();
}

} // namespace

Result<std::unique_ptr<DwarfReader>> open_libdw_reader(const DwarfFile &file,
                                                       const std::string &debug_dir, Skips &skips)
{
    auto opened = TRY(LibdwFile::open(file, debug_dir));
    auto reader = std::make_unique<LibdwReader>(std::move(opened));
    TRY(reader->list(skips));
    return reader;
}

} // namespace btflink::emit
