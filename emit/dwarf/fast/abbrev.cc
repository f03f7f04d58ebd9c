// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compiles abbreviations into the steps of the reader.
#include "emit/dwarf/fast/unit.h"

#include "emit/dwarf/debug_cursor.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// Codes below this are in a flat table.
constexpr uint64_t max_dense = 4096;

/// Does the reader need this attribute of an entry with this tag? It needs all attributes of units'
/// own entries.
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
    default:
        return false;
    }
}

/// Builds the steps of one abbreviation.
class StepBuilder
{
public:
    StepBuilder(std::vector<AbbrevStep> &steps, const UnitWidths &widths)
        : steps_(steps), widths_(widths), first_(static_cast<uint32_t>(steps.size()))
    {
    }

    void add(uint32_t attribute, uint32_t form, int64_t implicit, bool read)
    {
        int size = fixed_form_size(form, widths_);
        if (!read && size >= 0) {
            skip_ += static_cast<uint32_t>(size);
            return;
        }
        steps_.push_back({read ? static_cast<uint16_t>(attribute) : uint16_t{0},
                          static_cast<uint16_t>(form), skip_, implicit});
        skip_ = 0;
    }

    /// Returns the number of steps.
    uint32_t finish()
    {
        if (skip_)
            steps_.push_back({0, 0, skip_, 0});
        return static_cast<uint32_t>(steps_.size()) - first_;
    }

private:
    std::vector<AbbrevStep> &steps_;
    const UnitWidths &widths_;
    uint32_t first_;
    uint32_t skip_ = 0;
};

struct Attribute {
    uint32_t name, form;
    int64_t implicit;
};

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

Result<AbbrevTable> AbbrevTable::parse(const DwarfFile &file, uint64_t offset,
                                       const UnitWidths &widths, std::optional<uint64_t> only)
{
    Where where = file.where().in(".debug_abbrev");
    if (offset >= file.abbrev.data.size())
        return fail(where.at(offset),
                    strf("is beyond the section's end (%zu bytes)", file.abbrev.data.size()));
    AbbrevTable table;
    DebugCursor in(file.abbrev.data, offset, file.abbrev.data.size(), file.order());
    std::vector<Attribute> attributes;
    for (;;) {
        uint64_t at = in.offset();
        uint64_t code = in.uleb();
        if (code == 0 && !in.overrun())
            return table;
        const bool wanted = !only || code == only;
        Abbrev abbrev;
        abbrev.known = true;
        uint64_t tag = in.uleb();
        abbrev.tag = tag <= UINT16_MAX ? static_cast<uint16_t>(tag) : 0;
        abbrev.children = in.read<uint8_t>() == DW_CHILDREN_yes;
        attributes.clear();
        bool external = false;
        for (;;) {
            uint64_t name = in.uleb(), form = in.uleb();
            if (in.overrun())
                return fail(where.at(at), "abbreviation is cut off");
            if (name == 0 && form == 0)
                break;
            if (name > UINT16_MAX || form > UINT16_MAX || form == 0)
                return fail(where.at(at), "abbreviation with an impossible attribute or form");
            int64_t implicit = form == DW_FORM_implicit_const ? in.sleb() : 0;
            table.uses_ref_addr_ |= form == DW_FORM_ref_addr;
            if (!wanted)
                continue;
            attributes.push_back(
                {static_cast<uint32_t>(name), static_cast<uint32_t>(form), implicit});
            abbrev.declares |= name == DW_AT_declaration;
            external |= name == DW_AT_external;
            abbrev.has_signature |= name == DW_AT_signature && file.is_split();
        }
        if (!wanted)
            continue;
        // A static member of C++ is treated as a variable, as in DWARF 5.
        if (abbrev.tag == DW_TAG_member && (external || abbrev.declares)) {
            abbrev.tag = DW_TAG_variable;
            abbrev.declares = true;
        }
        abbrev.first = static_cast<uint32_t>(table.steps_.size());
        StepBuilder reading(table.steps_, widths);
        for (const Attribute &a : attributes)
            reading.add(a.name, a.form, a.implicit, is_needed(a.name, abbrev.tag));
        abbrev.count = reading.finish();

        // Entries that BTF does not need are skipped; a sibling attribute saves walking their
        // children.
        abbrev.skip_first = static_cast<uint32_t>(table.steps_.size());
        StepBuilder skipping(table.steps_, widths);
        for (const Attribute &a : attributes)
            skipping.add(a.name, a.form, a.implicit,
                         a.name == DW_AT_sibling && a.form == DW_FORM_ref4 && abbrev.children);
        abbrev.skip_count = skipping.finish();

        if (code < max_dense) {
            if (code >= table.dense_.size())
                table.dense_.resize(code + 1);
            if (!table.dense_[code].known)
                table.dense_[code] = abbrev;
        } else {
            table.sparse_.emplace(code, abbrev);
        }
    }
}

} // namespace btflink::emit
