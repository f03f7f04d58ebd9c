// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads attribute values of one unit (DWARF 5, section 7.5.6) and relocates them. Entries are read
// front to back and relocations are sorted by offset, so one pass over the relocations suffices.
#pragma once

#include "emit/dwarf/debug_cursor.h"
#include "emit/dwarf/die_attributes.h"
#include "emit/dwarf/fast/unit.h"
#include <string_view>

namespace btflink::emit
{

/// Reads one value after the other. Has the functions that DieAttributes calls for a value.
class FormReader
{
public:
    FormReader(const Unit &unit, uint64_t offset, Skips &skips)
        : file_(*unit.file), unit_(unit), skips_(skips),
          in_(file_.info.data, offset, unit.end, file_.order()), relocs_(file_.info.relocs),
          next_reloc_(relocs_.find(offset))
    {
    }

    DebugCursor &in() { return in_; }
    /// Why a value could not be read; nullptr if there was no problem.
    const char *problem() const { return problem_; }
    /// The type units to which references led.
    const std::vector<const TypeUnit *> &type_units() const { return type_units_; }

    /// Calls read(DW_AT_*) for those attributes of an entry that may be needed; read() reads the
    /// value or skips it.
    template <typename Read>
    [[gnu::always_inline]] void for_each_attribute(const Abbrev &abbrev, Read read)
    {
        const AbbrevStep *steps = unit_.abbrevs->steps(abbrev.first);
        for (uint32_t i = 0; i < abbrev.count; ++i) {
            in_.skip(steps[i].skip);
            form_ = steps[i].form;
            implicit_ = steps[i].implicit;
            if (steps[i].attribute)
                read(steps[i].attribute);
            else if (form_)
                skip();
        }
    }
    void skip();

    Constant constant();
    /// DW_FORM_data1, data2 and data4 are sign-extended.
    std::optional<int64_t> signed_constant();
    std::optional<EnumeratorValue> enumerator();
    Constant member_offset()
    {
        resolve();
        if (is_expression())
            return decode_member_offset(unit_, location());
        return constant();
    }
    bool flag() { return form_ == DW_FORM_flag_present || constant().value != 0; }
    /// nullptr if the value is not a string of this file, or lies outside of its section (then
    /// problem() or in().overrun() is set).
    const char *string();
    /// 0 for a reference that cannot be followed. Such references are counted.
    uint32_t reference();
    std::optional<AddressRef> address();
    std::optional<AddressRef> variable_address() { return decode_fixed_address(unit_, location()); }
    /// The start of the only range in a range list of split DWARF 5, if an entry of .debug_addr or
    /// the unit's DW_AT_low_pc determines it. Empty for other lists, for other forms than
    /// DW_FORM_rnglistx, and in files that are not split.
    std::optional<AddressRef> range_start();
    ParamLocation param_location()
    {
        const ParamLocation out = decode_param_location(unit_, location());
        if (file_.list_reads.are_too_many())
            problem_ = DwarfFile::too_many_lists;
        return out;
    }

private:
    /// Replaces DW_FORM_indirect by the form that precedes the value.
    void resolve()
    {
        if (form_ == DW_FORM_indirect)
            resolve_indirect();
    }
    void resolve_indirect();
    bool is_expression() const
    {
        return form_ == DW_FORM_exprloc || form_ == DW_FORM_block || form_ == DW_FORM_block1 ||
               form_ == DW_FORM_block2 || form_ == DW_FORM_block4;
    }
    /// The size of the value, whose form must have a fixed size.
    unsigned fixed_size() const
    {
        return static_cast<unsigned>(fixed_form_size(form_, unit_.widths));
    }
    /// Reads the size of an expression or block.
    uint64_t block_size();
    LocationAttr location();
    uint64_t number();
    /// Entry `index` of the table of offsets at `base` of `section`. Empty if there is none.
    std::optional<uint64_t> table_entry(const DebugSection &section, uint64_t base,
                                        uint64_t index) const;
    std::optional<uint64_t> list_offset(const DebugSection &lists, uint64_t base,
                                        uint64_t index) const;

    /// Reads `size` bytes and relocates them.
    uint64_t relocated(unsigned size)
    {
        uint64_t at = in_.offset();
        uint64_t raw = in_.read_sized(size);
        next_reloc_ = relocs_.skip_before(next_reloc_, at);
        if (!relocs_.is_at(next_reloc_, at))
            return raw;
        uint64_t value = file_.relocated(file_.info, next_reloc_++, raw);
        return size == 4 ? static_cast<uint32_t>(value) : value;
    }

    const char *string_at(const DebugSection &section, uint64_t offset)
    {
        if (offset < section.data.size()) // ends in a NUL byte: see DwarfFile::load_sections()
            return counted(reinterpret_cast<const char *>(section.data.data()) + offset);
        problem_ = "a string is outside of its section, or does not end within it";
        return nullptr;
    }

    const char *counted(const char *text)
    {
        if (file_.has_long_strings())
            count(text);
        return text;
    }
    void count(const char *text);

    uint32_t local_reference(uint64_t local)
    {
        return local < unit_.end - unit_.offset ? static_cast<uint32_t>(unit_.offset + local)
                                                : skipped(Skip::unresolved_reference);
    }
    uint32_t skipped(Skip reason)
    {
        ++skips_[reason];
        return 0;
    }

    const DwarfFile &file_;
    const Unit &unit_;
    Skips &skips_;
    DebugCursor in_;
    const RelocTable &relocs_;
    size_t next_reloc_;
    uint32_t form_ = 0; // of the value to be read
    int64_t implicit_ = 0;
    const char *problem_ = nullptr;
    std::vector<const TypeUnit *> type_units_;
};

} // namespace btflink::emit
