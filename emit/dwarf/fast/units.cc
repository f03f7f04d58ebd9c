// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads unit headers (DWARF 5, section 7.5.1) and the units' own entries.
#include "emit/dwarf/fast/form_reader.h"
#include "emit/dwarf/languages.h"

#include <algorithm>

namespace btflink::emit
{

namespace
{

// An image has thousands of units. Only the first few units, and units with long tables, keep their
// tables of abbreviations. The tables of the others are compiled again when the units are read.
// Compile units of split DWARF all keep their tables.
constexpr size_t tables_kept = 16;

/// A table of abbreviations with more bytes than this is long for this unit. Only the bytes beyond
/// this size count as shared reads.
uint64_t usual_table(const Unit &unit)
{
    return std::max<uint64_t>(4096, unit.end - unit.offset);
}

struct Header {
    Unit unit;
    uint8_t type = DW_UT_compile;
    uint64_t signature = 0, type_offset = 0; // of a type unit
};

/// Reads what follows the version. `in_types`: a type unit of DWARF 4, from .debug_types.dwo.
void read_fields(DebugCursor &in, Header &h, bool in_types)
{
    Unit &unit = h.unit;
    auto read_abbrev_offset = [&] {
        const uint64_t at = in.offset();
        unit.abbrev_offset =
            unit.file->value_at(unit.file->info, at, in.read_sized(unit.widths.offset));
    };
    if (unit.widths.version >= 5) {
        h.type = in.read<uint8_t>();
        unit.widths.address = in.read<uint8_t>();
        read_abbrev_offset();
    } else {
        h.type = in_types ? DW_UT_split_type : DW_UT_compile;
        read_abbrev_offset();
        unit.widths.address = in.read<uint8_t>();
    }
    if (h.type == DW_UT_skeleton || h.type == DW_UT_split_compile) {
        unit.dwo_id = in.read<uint64_t>();
    } else if (h.type == DW_UT_type || h.type == DW_UT_split_type) {
        h.signature = in.read<uint64_t>();
        h.type_offset = in.read_sized(unit.widths.offset);
    }
}

/// Reads the length of the unit at `in`. Returns where the unit ends. `where`: the position of
/// `section`.
Result<uint64_t> read_end(DebugCursor &in, const DwarfFile &file, const DebugSection &section,
                          const Where &where)
{
    const uint64_t offset = in.offset();
    // LLVM's assembler before 15 writes lengths as relocations for RISC-V.
    uint64_t length = file.value_at(section, offset, in.read<uint32_t>());
    if (length == UINT32_MAX)
        length = file.value_at(section, offset + 4, in.read<uint64_t>());
    if (in.overrun())
        return fail(where.at(offset), "unit header is cut off");
    if (length > in.left())
        return fail(where.at(offset),
                    strf("unit claims %llu bytes after its length, but %llu are left", ull(length),
                         ull(in.left())));
    return in.offset() + length;
}

Result<Header> read_header(const DwarfFile &file, uint64_t offset)
{
    const Where where = file.where().in(".debug_info");
    const Bytes section = file.info.data;
    DebugCursor in(section, offset, section.size(), file.order());
    Header h;
    Unit &unit = h.unit;
    unit.UnitHead::file = unit.file = &file;
    unit.offset = offset;
    unit.end = TRY(read_end(in, file, file.info, where));
    if (in.offset() != offset + 4) // 64-bit DWARF
        unit.widths.offset = 8;
    unit.widths.version = in.read<uint16_t>();
    if (unit.widths.version < 2 || unit.widths.version > 5)
        return fail(where.at(offset),
                    strf("DWARF version %u is not supported (2 to 5 are)", unit.widths.version));
    read_fields(in, h, offset >= file.types_at);
    unit.die_offset = in.offset();
    unit.entries = section.subspan(offset, unit.end - offset);
    if (in.overrun() || unit.die_offset > unit.end)
        return fail(where.at(offset), "unit header is cut off");
    if (unit.widths.address != file.arch().address_size)
        return fail(where.at(offset), strf("addresses of %u bytes in a file for %s",
                                           unit.widths.address, file.arch().name));
    return h;
}

void read_unit_attribute(FormReader &in, uint32_t attribute, Unit &unit)
{
    auto number = [&] { return in.constant().value; };
    switch (attribute) {
    case DW_AT_name:
        unit.name = usual_path(in.string());
        break;
    case DW_AT_producer:
        unit.clang = is_clang(in.string());
        break;
    case DW_AT_language:
        unit.language = static_cast<uint16_t>(number());
        break;
    case DW_AT_str_offsets_base:
        unit.str_offsets_base = number();
        break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        unit.addr_base = number();
        break;
    case DW_AT_loclists_base:
        unit.loclists_base = number();
        break;
    case DW_AT_comp_dir:
        unit.comp_dir = usual_path(in.string());
        break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        unit.dwo_name = usual_path(in.string());
        unit.is_skeleton = !unit.file->is_split();
        break;
    case DW_AT_low_pc:
        unit.low_pc = in.address();
        break;
    case DW_AT_GNU_dwo_id:
        unit.dwo_id = number();
        break;
    default:
        in.skip();
        break;
    }
}

/// Why a unit is left out, by the tag of its own entry alone; nothing for other units.
std::optional<Skip> skip_reason(uint32_t tag)
{
    switch (tag) {
    case DW_TAG_compile_unit:
    case DW_TAG_skeleton_unit:
        return std::nullopt;
    case DW_TAG_partial_unit:
        return Skip::partial_unit;
    case DW_TAG_type_unit:
        return Skip::type_unit;
    default:
        return Skip::unknown_unit;
    }
}

/// Reads the unit's own entry. Returns false if the unit is left out: it is empty, or of a kind
/// that is counted in `skips`.
Result<bool> read_own_entry(Unit &unit, Skips &skips)
{
    const Where where = unit.file->where().in(".debug_info").at(unit.die_offset);
    // The first round finds the bases of tables, to which strings and addresses may be relative.
    // The second round reads all values again.
    for (int round = 0; round < 2; ++round) {
        Skips none; // stays empty: FormReader counts references, and no reference is read here
        FormReader in(unit, unit.die_offset, none);
        const uint64_t code = in.in().uleb();
        const Abbrev *abbrev = unit.abbrevs->find(code);
        if (code == 0)
            return false;
        if (!abbrev)
            return fail(where,
                        strf("entry with abbreviation %llu, which is not in its table", ull(code)));
        if (auto kind = skip_reason(abbrev->tag)) {
            ++skips[*kind];
            return false;
        }
        in.for_each_attribute(
            *abbrev, [&](uint32_t attribute) { read_unit_attribute(in, attribute, unit); });
        if (round == 1 && (in.in().overrun() || in.problem()))
            return fail(where, in.problem() ? in.problem() : "the unit's entry is cut off");
    }
    return true;
}

/// Sets where the tables of a unit of split DWARF begin. In DWARF 5, each table follows a header.
void set_bases(Unit &unit, const SplitPlace &place)
{
    const uint64_t wide = unit.widths.offset == 8 ? 8 : 0;
    unit.str_offsets_base =
        place.at[SplitPlace::str_offsets] + (unit.widths.version < 5 ? 0 : 8 + wide);
    unit.loclists_base = place.at[SplitPlace::loc] + 12 + wide;
    unit.rnglists_base = place.at[SplitPlace::rnglists] + 12 + wide;
    unit.loc_base = place.at[SplitPlace::loc];
}

/// Counts the units of .debug_types in `skips`: the type units of DWARF 4. They are not read,
/// except in split DWARF, where they are in `file.info`.
Result<void> count_type_units(const DwarfFile &file, Skips &skips)
{
    const Bytes section = file.types.data;
    for (uint64_t at = 0; at < section.size(); ++skips[Skip::type_unit]) {
        DebugCursor in(section, at, section.size(), file.order());
        at = TRY(read_end(in, file, file.types, file.where().in(".debug_types")));
    }
    return {};
}

Result<TypeUnit> make_type_unit(const Header &header, const SplitPlace &place)
{
    const Where where = place.file->where().in(".debug_info").at(header.unit.offset);
    if (header.type != DW_UT_split_type)
        return fail(where, "is not the type unit that .debug_tu_index places here");
    if (header.type_offset >= header.unit.end - header.unit.offset)
        return fail(where, strf("the type of the type unit is at 0x%llx, beyond its end",
                                ull(header.type_offset)));
    TypeUnit out{header.unit, static_cast<uint32_t>(header.unit.offset + header.type_offset)};
    set_bases(out.unit, place);
    out.unit.abbrev_offset += place.at[SplitPlace::abbrev];
    return out;
}

/// A compile unit of split DWARF. Empty if the unit is of another kind, or is left out.
Result<std::optional<Unit>> make_split_unit(const Header &header, const SplitPlace &place,
                                            Abbrevs &abbrevs)
{
    Unit unit = header.unit;
    if (header.type != (unit.widths.version < 5 ? DW_UT_compile : DW_UT_split_compile))
        return std::nullopt;
    set_bases(unit, place);
    unit.abbrev_offset += place.at[SplitPlace::abbrev];
    unit.is_split = true;
    TRY(abbrevs.attach(unit));
    Skips not_counted;
    const bool is_read = TRY(read_own_entry(unit, not_counted));
    return is_read ? std::optional(std::move(unit)) : std::nullopt;
}

} // namespace

Result<void> Abbrevs::attach(Unit &unit)
{
    if (!unit.abbrevs && unit.file == last_.file && unit.abbrev_offset == last_.abbrev_offset &&
        unit.widths == last_.widths) {
        unit.abbrevs = last_.abbrevs;
        unit.refers_to_other_units = last_.refers_to_other_units;
    }
    if (!unit.abbrevs) {
        AbbrevTable table = TRY(AbbrevTable::parse(*unit.file, unit.abbrev_offset, unit.widths));
        reads_.add(table.bytes(), usual_table(unit));
        if (reads_.are_too_many())
            return fail(unit.file->where().in(".debug_abbrev").at(unit.abbrev_offset),
                        "units share long tables");
        unit.refers_to_other_units = table.uses_ref_addr();
        unit.abbrevs = std::make_shared<const AbbrevTable>(std::move(table));
    }
    last_ = unit;
    return {};
}

Result<TypeUnit> read_type_unit(const SplitPlace &place)
{
    const DwarfFile &file = *place.file;
    if (place.at[SplitPlace::info] >= file.info.data.size())
        return fail(file.where().in(".debug_tu_index"),
                    "names a unit beyond the end of its section");
    auto header = TRY(read_header(file, place.at[SplitPlace::info]));
    return make_type_unit(header, place);
}

Result<void> read_language(Unit &type_unit, Abbrevs &abbrevs)
{
    TRY(abbrevs.attach(type_unit));
    Skips none; // stays empty: FormReader counts references, and no reference is read here
    FormReader in(type_unit, type_unit.die_offset, none);
    const Abbrev *abbrev = type_unit.abbrevs->find(in.in().uleb());
    if (!abbrev) // read_entries() returns the error, if it reads the unit
        return {};
    in.for_each_attribute(*abbrev, [&](uint32_t attribute) {
        if (attribute == DW_AT_language)
            type_unit.language = static_cast<uint16_t>(in.constant().value);
        else
            in.skip();
    });
    return {};
}

Result<SplitUnits> list_split_units(const DwarfFile &file)
{
    SplitPlace place;
    place.file = &file;
    SplitUnits out;
    Abbrevs abbrevs;
    for (uint64_t at = 0; at < file.info.data.size();) {
        auto header = TRY(read_header(file, at));
        at = header.unit.end;
        if (header.type == DW_UT_split_type) {
            auto unit = TRY(make_type_unit(header, place));
            out.types.emplace(header.signature, std::move(unit));
        } else if (auto unit = TRY(make_split_unit(header, place, abbrevs))) {
            out.units.try_emplace(unit->dwo_id, std::move(*unit));
        }
    }
    return out;
}

Result<std::optional<Unit>> read_split_unit(const SplitPlace &place, Abbrevs &abbrevs)
{
    const uint64_t at = place.at[SplitPlace::info];
    if (at >= place.file->info.data.size())
        return std::nullopt;
    auto header = TRY(read_header(*place.file, at));
    return make_split_unit(header, place, abbrevs);
}

Result<std::vector<Unit>> list_units(const DwarfFile &file, SplitFiles &splits, Skips &skips)
{
    std::vector<Unit> units;
    if (file.info.data.size() > UINT32_MAX)
        return fail(file.where().in(".debug_info"), "has more than 4 GB");
    Abbrevs abbrevs;
    for (uint64_t at = 0; at < file.info.data.size();) {
        auto header = TRY(read_header(file, at));
        Unit &unit = header.unit;
        at = unit.end;
        if (header.type < DW_UT_compile || header.type > DW_UT_skeleton) {
            ++skips[Skip::unknown_unit];
            continue;
        }
        TRY(abbrevs.attach(unit));
        const bool is_read = TRY(read_own_entry(unit, skips));
        if (!is_read)
            continue;
        if (header.type == DW_UT_skeleton || unit.is_skeleton) {
            if (auto split = TRY(splits.find(unit)))
                units.push_back(std::move(*split));
            else
                ++skips[skip_without(unit.dwo_name, unit.dwo_id)];
            continue;
        }
        if (units.size() >= tables_kept && unit.abbrevs->bytes() <= usual_table(unit))
            unit.abbrevs = nullptr;
        units.push_back(std::move(unit));
    }
    TRY(count_type_units(file, skips));
    return units;
}

} // namespace btflink::emit
