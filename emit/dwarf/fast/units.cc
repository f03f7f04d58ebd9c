// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Unit headers (DWARF 5, section 7.5.1) and what the units' own DIEs say of them.
#include "emit/dwarf/fast/form_reader.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

struct Header {
    Unit unit;
    uint64_t abbrev_offset = 0;
    uint8_t type = DW_UT_compile;
};

Result<Header> read_header(const DwarfFile &file, uint64_t offset)
{
    Where where = file.where().in(".debug_info");
    Bytes section = file.info.data;
    DebugCursor in(section, offset, section.size(), file.order());
    Header h;
    Unit &unit = h.unit;
    unit.offset = offset;
    // LLVM's assembler before 15 writes lengths as relocations for RISC-V.
    uint64_t length = file.value_at(file.info, offset, in.read<uint32_t>());
    if (length == UINT32_MAX) {
        unit.widths.offset = 8;
        length = file.value_at(file.info, offset + 4, in.read<uint64_t>());
    }
    if (in.overrun() || length > in.left())
        return fail(where.at(offset),
                    strf("unit claims %llu bytes, %llu are left",
                         static_cast<unsigned long long>(length),
                         static_cast<unsigned long long>(section.size() - offset)));
    unit.end = in.offset() + length;
    unit.widths.version = in.read<uint16_t>();
    if (unit.widths.version < 2 || unit.widths.version > 5)
        return fail(where.at(offset),
                    strf("DWARF version %u is not supported (2 to 5 are)", unit.widths.version));
    auto offset_of_abbrevs = [&] {
        uint64_t at = in.offset();
        return file.value_at(file.info, at, in.read_sized(unit.widths.offset));
    };
    if (unit.widths.version >= 5) {
        h.type = in.read<uint8_t>();
        unit.widths.address = in.read<uint8_t>();
        h.abbrev_offset = offset_of_abbrevs();
        if (h.type == DW_UT_skeleton || h.type == DW_UT_split_compile)
            in.skip(8); // id
        else if (h.type == DW_UT_type || h.type == DW_UT_split_type)
            in.skip(8 + unit.widths.offset); // signature, offset of the type
    } else {
        h.abbrev_offset = offset_of_abbrevs();
        unit.widths.address = in.read<uint8_t>();
    }
    unit.die_offset = in.offset();
    if (in.overrun() || unit.die_offset > unit.end)
        return fail(where.at(offset), "unit header is cut off");
    if (unit.widths.address != file.arch().address_size)
        return fail(where.at(offset), strf("addresses of %u bytes in a file for %s",
                                           unit.widths.address, file.arch().name));
    return h;
}

/// The attributes of the unit's own DIE. Twice, for strings may come before the base that their
/// indices count from.
Result<void> read_unit_die(const DwarfFile &file, Unit &unit, const Abbrev &abbrev, bool &split)
{
    for (int round = 0; round < 2; ++round) {
        FormReader in(file, unit, unit.die_offset);
        in.in().uleb(); // abbreviation code
        for (uint32_t i = 0; i < abbrev.count; ++i) {
            const AbbrevStep &step = unit.abbrevs->steps(abbrev.first)[i];
            in.in().skip(step.skip);
            if (!step.form)
                break;
            bool strings = step.attribute == DW_AT_name || step.attribute == DW_AT_producer;
            if (strings && round == 0) {
                in.skip(step.form);
                continue;
            }
            switch (step.attribute) {
            case DW_AT_name:
                unit.name = in.string(step.form);
                break;
            case DW_AT_producer: {
                const char *producer = in.string(step.form);
                unit.clang = producer && std::strstr(producer, "clang");
                break;
            }
            case DW_AT_language:
                unit.language =
                    static_cast<uint16_t>(in.constant(step.form, step.implicit).value_or(0));
                break;
            case DW_AT_str_offsets_base:
                unit.str_offsets_base = in.constant(step.form, step.implicit).value_or(0);
                break;
            case DW_AT_addr_base:
            case DW_AT_GNU_addr_base:
                unit.addr_base = in.constant(step.form, step.implicit).value_or(0);
                break;
            case DW_AT_loclists_base:
                unit.loclists_base = in.constant(step.form, step.implicit).value_or(0);
                break;
            case DW_AT_dwo_name:
            case DW_AT_GNU_dwo_name:
                split = true;
                in.skip(step.form);
                break;
            default:
                in.skip(step.form);
                break;
            }
        }
        if (in.in().overrun() || in.problem())
            return fail(file.where().in(".debug_info").at(unit.die_offset),
                        in.problem() ? in.problem() : "the unit's entry is cut off");
    }
    return {};
}

} // namespace

std::optional<AddressRef> Unit::indexed_address(const DwarfFile &file, uint64_t index) const
{
    uint64_t size = file.addr.data.size();
    if (index > size || addr_base > size)
        return std::nullopt;
    return file.address_at(file.addr, addr_base + index * widths.address);
}

Result<std::vector<Unit>> list_units(const DwarfFile &file, Skips &skips)
{
    std::vector<Unit> units;
    Where where = file.where().in(".debug_info");
    if (file.info.data.size() > UINT32_MAX)
        return fail(where, "has more than 4 GB");
    // Units of one object share abbreviations as a rule.
    uint64_t abbrevs_at = 0;
    UnitWidths abbrevs_for;
    std::shared_ptr<const AbbrevTable> abbrevs;
    for (uint64_t at = 0; at < file.info.data.size();) {
        auto header = read_header(file, at);
        if (!header)
            return tl::unexpected(header.error());
        Unit unit = header->unit;
        at = unit.end;
        switch (header->type) {
        case DW_UT_compile:
            break;
        case DW_UT_partial:
            ++skips["partial-unit"];
            continue;
        case DW_UT_skeleton:
            ++skips["split-dwarf-unit"];
            continue;
        case DW_UT_type:
        case DW_UT_split_type:
            ++skips["type-unit"];
            continue;
        default:
            ++skips["unknown-unit"];
            continue;
        }
        const UnitWidths &w = unit.widths;
        if (!abbrevs || header->abbrev_offset != abbrevs_at || w.version != abbrevs_for.version ||
            w.offset != abbrevs_for.offset) {
            auto table = AbbrevTable::parse(file, header->abbrev_offset, unit.widths);
            if (!table)
                return tl::unexpected(table.error());
            abbrevs = std::make_shared<const AbbrevTable>(std::move(*table));
            abbrevs_at = header->abbrev_offset;
            abbrevs_for = w;
        }
        unit.abbrevs = abbrevs;
        unit.reads_foreign_units = abbrevs->uses_ref_addr();

        DebugCursor in(file.info.data, unit.die_offset, unit.end, file.order());
        uint64_t code = in.uleb();
        if (code == 0)
            continue; // a unit without entries
        const Abbrev *abbrev = abbrevs->find(code);
        if (!abbrev)
            return fail(where.at(unit.die_offset),
                        strf("entry with abbreviation %llu, which is not in its table",
                             static_cast<unsigned long long>(code)));
        bool split = false;
        if (abbrev->tag == DW_TAG_partial_unit) {
            ++skips["partial-unit"];
        } else if (abbrev->tag == DW_TAG_type_unit) {
            ++skips["type-unit"];
        } else if (abbrev->tag != DW_TAG_compile_unit) {
            ++skips["unknown-unit"];
        } else {
            RETURN_IF_ERROR(read_unit_die(file, unit, *abbrev, split));
            if (split)
                ++skips["split-dwarf-unit"];
            else
                units.push_back(std::move(unit));
        }
    }
    return units;
}

} // namespace btflink::emit
