// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the reader of a file by its sections, then by the units that the fast reader left out.
// Decides which tree gets the type units to which nothing refers. Completes the trees of both
// readers.
#include "emit/dwarf/dwarf_reader.h"

#include "emit/dwarf/languages.h"

#include <algorithm>

namespace btflink::emit
{

namespace
{

/// Why the file's sections need libdw, for messages: the name of a section, or "several
/// .debug_info". "" if the fast reader can read them.
std::string section_for_libdw(const DwarfFile &file)
{
    if (file.types.present())
        return std::string(file.image().sections[file.types.pieces.front().index].name);
    if (file.info.pieces.size() > 1)
        return "several .debug_info";
    for (const ElfSection &s : file.image().sections)
        if (s.name == ".gnu_debugaltlink")
            return ".gnu_debugaltlink";
    return "";
}

/// The kind of unit that the fast reader left out but libdw can read, or "".
std::string unit_for_libdw(const Skips &skips)
{
    for (Skip kind : {Skip::type_unit, Skip::partial_unit})
        if (skips.contains(kind))
            return skip_word(kind);
    return "";
}

/// Does the file have skeleton units, whether or not `libdw` found their split units?
bool has_split_units(const DwarfReader &libdw, const Skips &skips)
{
    return skips.contains(Skip::split_dwarf_unit) || skips.contains(Skip::clang_module) ||
           std::ranges::any_of(libdw.units(), &UnitHead::is_split);
}

/// Combines `libdw` with the fast reader for split DWARF. In `skips`, the fast reader's counts of
/// split_dwarf_unit and clang_module replace libdw's; all other counts stay libdw's.
Result<std::unique_ptr<DwarfReader>>
with_fast_split(const DwarfFile &file, std::unique_ptr<DwarfReader> libdw, Skips &skips)
{
    Skips left_out;
    auto fast = TRY(open_fast_reader(file, left_out));
    for (Skip kind : {Skip::split_dwarf_unit, Skip::clang_module}) {
        skips.erase(kind);
        if (left_out.contains(kind))
            skips[kind] = left_out[kind];
    }
    return combine(file.arch(), std::move(libdw), std::move(fast));
}

constexpr uint32_t nobody = UINT32_MAX; // no unit of the file and language was chosen

} // namespace

Result<ChosenReader> open_reader(const DwarfFile &file, ReaderChoice choice,
                                 const std::string &debug_dir, Skips &skips)
{
    ChosenReader out;
    if (choice == ReaderChoice::automatic)
        out.why = section_for_libdw(file);
    if (choice != ReaderChoice::libdw && out.why.empty()) {
        Skips left_out;
        auto fast = TRY(open_fast_reader(file, left_out));
        if (choice == ReaderChoice::automatic)
            out.why = unit_for_libdw(left_out);
        if (out.why.empty()) {
            skips.merge(left_out);
            out.reader = std::move(fast);
            return out;
        }
    }
    out.reader = TRY(open_libdw_reader(file, debug_dir, skips));
    out.name = "libdw";
    if (choice == ReaderChoice::automatic && has_split_units(*out.reader, skips))
        out.reader = TRY(with_fast_split(file, std::move(out.reader), skips));
    return out;
}

void DwarfReader::choose(std::span<const uint32_t> units)
{
    for (uint32_t i : units)
        for (uint16_t language : {heads_[i].language, uint16_t{0}})
            type_owners_.try_emplace({heads_[i].file, language}, i);
    for (const UnitHead &unit : heads_)
        type_owners_.try_emplace({unit.file, unit.language}, nobody);
}

bool DwarfReader::get_types(std::span<const uint32_t> units, FileLanguage types) const
{
    auto owner = type_owners_.find(types);
    if (owner == type_owners_.end())
        owner = type_owners_.find({types.file, 0});
    return owner != type_owners_.end() && std::ranges::binary_search(units, owner->second);
}

bool DwarfReader::get_types(std::span<const uint32_t> units, const void *file) const
{
    auto owner = type_owners_.lower_bound({file, 0});
    for (; owner != type_owners_.end() && owner->first.file == file; ++owner)
        if (std::ranges::binary_search(units, owner->second))
            return true;
    return false;
}

Result<DieTree> DwarfReader::read(std::span<const uint32_t> units, Skips &skips) const
{
    DieTree tree = TRY(read_entries(units, skips));
    const UnitHead &first = heads_[units.front()];
    tree.source = first.name;
    tree.clang = first.clang;
    tree.address_size = arch_.address_size;
    for (uint32_t i : units) {
        const UnitHead &unit = heads_[i];
        tree.c_names &= has_c_names(unit.language);
        tree.languages.push_back({static_cast<uint32_t>(unit.offset), language_name(unit.language),
                                  counts_from_1(unit.language)});
    }
    std::ranges::sort(tree.languages, {}, &UnitLanguage::offset);
    tree.index();
    return tree;
}

} // namespace btflink::emit
