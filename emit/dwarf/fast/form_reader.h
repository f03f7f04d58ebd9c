// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads attribute values of one unit (DWARF 5, section 7.5.6) and relocates them. Entries are read
// front to back and relocations are sorted by offset, so both advance together.
#pragma once

#include "emit/dwarf/debug_cursor.h"
#include "emit/dwarf/fast/location.h"

#include <dwarf.h>
#include <string_view>

namespace btflink::emit
{

class FormReader
{
public:
    FormReader(const Unit &unit, uint64_t offset)
        : file_(*unit.file), unit_(unit), in_(file_.info.data, offset, unit.end, file_.order()),
          relocs_(file_.info.relocs), next_reloc_(relocs_.find(offset))
    {
    }

    DebugCursor &in() { return in_; }
    /// Why a value could not be read; nullptr if there was no problem.
    const char *problem() const { return problem_; }

    /// The actual form; that of DW_FORM_indirect precedes the value.
    uint32_t resolve(uint32_t form) { return form == DW_FORM_indirect ? resolve_indirect() : form; }
    void skip(uint32_t form);

    /// Empty if the value is not a constant.
    std::optional<uint64_t> constant(uint32_t form, int64_t implicit)
    {
        switch (form) {
        case DW_FORM_data1:
            return in_.read<uint8_t>();
        case DW_FORM_data2:
            return in_.read<uint16_t>();
        case DW_FORM_implicit_const:
            return static_cast<uint64_t>(implicit);
        default:
            return other_constant(form, implicit);
        }
    }
    /// As a signed number; forms of fixed size are sign-extended.
    std::optional<int64_t> signed_constant(uint32_t form, int64_t implicit);
    bool flag(uint32_t form, int64_t implicit)
    {
        return form == DW_FORM_flag_present || constant(form, implicit).value_or(0) != 0;
    }
    /// nullptr if it is not a string, or if it lies outside of its section (then problem() is set).
    const char *string(uint32_t form)
    {
        switch (form) {
        case DW_FORM_strp:
            return string_at(file_.str, relocated(unit_.widths.offset));
        case DW_FORM_string:
            return in_.string();
        default:
            return other_string(form);
        }
    }
    /// Offset in .debug_info; 0 if the reference cannot be followed: `skipped` is the reason. Type
    /// units are added to met_types().
    uint32_t reference(uint32_t form, std::optional<Skip> &skipped)
    {
        if (form != DW_FORM_ref4)
            return other_reference(form, skipped);
        return local_reference(in_.read<uint32_t>(), skipped);
    }
    const std::vector<const TypeUnit *> &met_types() const { return met_types_; }
    LocationAttr location(uint32_t form);
    std::optional<AddressRef> address(uint32_t form);
    /// The start of a list with exactly one range. Empty for other lists and forms.
    std::optional<AddressRef> range_start(uint32_t form);

private:
    uint32_t resolve_indirect();
    std::optional<uint64_t> other_constant(uint32_t form, int64_t implicit);
    const char *other_string(uint32_t form);
    uint32_t other_reference(uint32_t form, std::optional<Skip> &skipped);
    std::optional<uint64_t> list_offset(const DebugSection &lists, uint64_t base,
                                        uint64_t index) const;

    /// `size` bytes, relocated.
    uint64_t relocated(unsigned size)
    {
        uint64_t at = in_.offset();
        uint64_t raw = in_.read_sized(size);
        next_reloc_ = relocs_.skip_before(next_reloc_, at);
        if (next_reloc_ == relocs_.size() || relocs_.offset(next_reloc_) != at)
            return raw;
        uint64_t value = file_.relocated(file_.info, next_reloc_++, raw);
        return size == 4 ? static_cast<uint32_t>(value) : value;
    }

    const char *string_at(const DebugSection &section, uint64_t offset)
    {
        // String sections normally end in a NUL byte. If not, search for the end of each string.
        if (offset < section.data.size() && section.data.back() == std::byte{0})
            return reinterpret_cast<const char *>(section.data.data()) + offset;
        return unterminated_string(section, offset);
    }
    const char *unterminated_string(const DebugSection &section, uint64_t offset);

    uint32_t local_reference(uint64_t local, std::optional<Skip> &skipped)
    {
        if (local < unit_.end - unit_.offset)
            return static_cast<uint32_t>(unit_.offset + local);
        skipped = Skip::unresolved_reference;
        return 0;
    }

    const DwarfFile &file_;
    const Unit &unit_;
    DebugCursor in_;
    const RelocTable &relocs_;
    size_t next_reloc_;
    const char *problem_ = nullptr;
    std::vector<const TypeUnit *> met_types_;
};

} // namespace btflink::emit
