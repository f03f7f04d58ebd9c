// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compiles abbreviations into the steps of the reader.
#include "emit/dwarf/fast/unit.h"

#include "emit/dwarf/debug_cursor.h"

#include <algorithm>
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

} // namespace

/// An abbreviation as .debug_abbrev has it.
struct RawAbbrev {
    struct Attribute {
        uint32_t name, form;
        int64_t implicit;
    };
    uint64_t code = 0; // 0: the end of the table
    uint64_t tag = 0;
    bool children = false;
    std::vector<Attribute> attributes;

    bool has(uint32_t name) const
    {
        return std::ranges::find(attributes, name, &Attribute::name) != attributes.end();
    }
};

namespace
{

Result<void> read_abbrev(DebugCursor &in, const Where &where, RawAbbrev &out)
{
    const uint64_t at = in.offset();
    out.code = in.uleb();
    if (out.code == 0 && !in.overrun())
        return {};
    out.tag = in.uleb();
    out.children = in.read<uint8_t>() == DW_CHILDREN_yes;
    out.attributes.clear();
    for (;;) {
        const uint64_t name = in.uleb(), form = in.uleb();
        if (in.overrun())
            return fail(where.at(at), "abbreviation is cut off");
        if (name == 0 && form == 0)
            return {};
        if (name > UINT16_MAX || form > UINT16_MAX || form == 0)
            return fail(where.at(at), "abbreviation with an impossible attribute or form");
        out.attributes.push_back({static_cast<uint32_t>(name), static_cast<uint32_t>(form),
                                  form == DW_FORM_implicit_const ? in.sleb() : 0});
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

Abbrev AbbrevTable::compile(const RawAbbrev &raw, const UnitWidths &widths, bool is_split)
{
    Abbrev out;
    out.known = true;
    out.tag = raw.tag <= UINT16_MAX ? static_cast<uint16_t>(raw.tag) : 0;
    out.children = raw.children;
    out.declares = raw.has(DW_AT_declaration);
    out.has_signature = is_split && raw.has(DW_AT_signature);
    // A static member of C++ is treated as a variable, as in DWARF 5.
    if (out.tag == DW_TAG_member && (out.declares || raw.has(DW_AT_external))) {
        out.tag = DW_TAG_variable;
        out.declares = true;
    }
    out.first = static_cast<uint32_t>(steps_.size());
    StepBuilder reading(steps_, widths);
    for (const RawAbbrev::Attribute &a : raw.attributes)
        reading.add(a.name, a.form, a.implicit, is_needed(a.name, out.tag));
    out.count = reading.finish();

    // Entries that BTF does not need are skipped; a sibling attribute saves walking their children.
    out.skip_first = static_cast<uint32_t>(steps_.size());
    StepBuilder skipping(steps_, widths);
    for (const RawAbbrev::Attribute &a : raw.attributes)
        skipping.add(a.name, a.form, a.implicit,
                     a.name == DW_AT_sibling && a.form == DW_FORM_ref4 && out.children);
    out.skip_count = skipping.finish();
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
                                       const UnitWidths &widths, std::optional<uint64_t> only)
{
    const Where where = file.where().in(".debug_abbrev");
    const Bytes section = file.abbrev.data;
    if (offset >= section.size())
        return fail(where.at(offset),
                    strf("is beyond the section's end (%zu bytes)", section.size()));
    AbbrevTable table;
    DebugCursor in(section, offset, section.size(), file.order());
    RawAbbrev raw;
    for (;;) {
        TRY(read_abbrev(in, where, raw));
        if (raw.code == 0)
            return table;
        for (const RawAbbrev::Attribute &a : raw.attributes)
            table.uses_ref_addr_ |= a.form == DW_FORM_ref_addr;
        if (!only || raw.code == only)
            table.add(raw.code, table.compile(raw, widths, file.is_split()));
    }
}

} // namespace btflink::emit
