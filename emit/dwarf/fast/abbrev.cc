// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compiles abbreviations into the steps by which the fast reader reads attributes (unit.h).
#include "emit/dwarf/fast/unit.h"

#include <dwarf.h>
#include <utility>

namespace btflink::emit
{

namespace
{

/// Codes below this are in a flat table.
constexpr uint64_t max_dense = 4096;

/// The most steps of an abbreviation; compilers need up to 30. The limit is for damaged files. For
/// example, .debug_info may consist of one-byte entries with one abbreviation, whose attributes
/// have no bytes (DW_FORM_flag_present). Without the limit, reading these entries would take time
/// proportional to the product of the sizes of .debug_info and .debug_abbrev.
constexpr uint32_t most_steps = 1000;

/// Does the reader need this attribute of an entry with this tag? True for all attributes of the
/// own entries of compile units.
bool is_needed(uint32_t attribute, uint32_t tag)
{
    if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
        return true;
    switch (attribute) {
    case DW_AT_name:
    case DW_AT_type:
    case DW_AT_abstract_origin:
    case DW_AT_specification:
    case DW_AT_byte_size:
    case DW_AT_bit_size:
    case DW_AT_bit_offset:
    case DW_AT_data_bit_offset:
    case DW_AT_data_member_location:
    case DW_AT_encoding:
    case DW_AT_const_value:
    case DW_AT_upper_bound:
    case DW_AT_count:
    case DW_AT_declaration:
    case DW_AT_external:
    case DW_AT_artificial:
    case DW_AT_inline:
    case DW_AT_calling_convention:
    case DW_AT_location:
    case DW_AT_signature:
    case at_gnu_annotation:
        return true;
    case DW_AT_low_pc:
    case DW_AT_ranges:
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return tag == DW_TAG_subprogram;
    case DW_AT_language:
        return tag == DW_TAG_type_unit;
    case DW_AT_lower_bound:
        return tag == DW_TAG_subrange_type;
    default:
        return false;
    }
}

} // namespace

int fixed_form_size(uint32_t form, const UnitWidths &widths)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return widths.address;
    case DW_FORM_ref_addr:
        return widths.version <= 2 ? widths.address : widths.offset;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
        return widths.offset;
    default:
        return -1;
    }
}

/// Reads the rest of the abbreviation at `at`, whose code has been read.
Result<Abbrev> AbbrevTable::read(DebugCursor &in, const DwarfFile &file, const UnitWidths &widths,
                                 uint64_t at)
{
    const Where where = file.where().in(".debug_abbrev").at(at);
    const uint64_t tag = in.uleb();
    Abbrev out;
    out.known = true;
    out.tag = tag <= UINT16_MAX ? static_cast<uint16_t>(tag) : 0;
    out.children = in.read<uint8_t>() == DW_CHILDREN_yes;
    out.first = static_cast<uint32_t>(steps_.size());
    bool external = false;
    uint32_t skip = 0; // bytes before the next step
    for (;;) {
        const uint64_t name = in.uleb(), form = in.uleb();
        if (in.overrun())
            return fail(where, "abbreviation is cut off");
        if (name == 0 && form == 0)
            break;
        if (name > UINT16_MAX || form > UINT16_MAX || form == 0)
            return fail(where, "abbreviation with an impossible attribute or form");
        const int64_t implicit = form == DW_FORM_implicit_const ? in.sleb() : 0;
        out.declares |= name == DW_AT_declaration;
        out.has_signature |= name == DW_AT_signature && file.is_split();
        external |= name == DW_AT_external;
        uses_ref_addr_ |= form == DW_FORM_ref_addr;
        // DW_AT_sibling is read only in its usual form, DW_FORM_ref4. skip_tree() uses it to jump
        // over the children of an entry that BTF does not need.
        const bool is_read = name == DW_AT_sibling
                                 ? form == DW_FORM_ref4 && out.children
                                 : is_needed(static_cast<uint32_t>(name), out.tag);
        if (const int size = fixed_form_size(static_cast<uint32_t>(form), widths);
            !is_read && size >= 0)
            skip += static_cast<uint32_t>(size);
        else
            steps_.push_back({is_read ? static_cast<uint16_t>(name) : uint16_t{0},
                              static_cast<uint16_t>(form), std::exchange(skip, 0), implicit});
    }
    if (skip)
        steps_.push_back({0, 0, skip, 0});
    out.count = static_cast<uint32_t>(steps_.size()) - out.first;
    if (out.count > most_steps)
        return fail(where, strf("abbreviation with more than %u attributes", most_steps));
    // A static member of C++ is treated as a variable, as in DWARF 5.
    if (out.tag == DW_TAG_member && (out.declares || external)) {
        out.tag = DW_TAG_variable;
        out.declares = true;
    }
    return out;
}

void AbbrevTable::add(uint64_t code, const Abbrev &abbrev)
{
    if (code >= max_dense) {
        sparse_.emplace(code, abbrev);
        return;
    }
    if (code >= dense_.size())
        dense_.resize(code + 1);
    if (!dense_[code].known)
        dense_[code] = abbrev;
}

Result<AbbrevTable> AbbrevTable::parse(const DwarfFile &file, uint64_t offset,
                                       const UnitWidths &widths)
{
    const Bytes section = file.abbrev.data;
    if (offset >= section.size())
        return fail(file.where().in(".debug_abbrev").at(offset),
                    strf("is beyond the section's end (%zu bytes)", section.size()));
    AbbrevTable table;
    DebugCursor in(section, offset, section.size(), file.order());
    for (;;) {
        const uint64_t at = in.offset(), code = in.uleb();
        if (code == 0 && !in.overrun()) {
            table.bytes_ = in.offset() - offset;
            return table;
        }
        const Abbrev abbrev = TRY(table.read(in, file, widths, at));
        table.add(code, abbrev);
    }
}

} // namespace btflink::emit
