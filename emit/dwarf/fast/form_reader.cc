// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decodes attribute values, form by form.
#include "emit/dwarf/fast/form_reader.h"

#include <cstring>

namespace btflink::emit
{

void FormReader::resolve_indirect()
{
    uint64_t real = in_.uleb();
    if (real == DW_FORM_indirect || real == DW_FORM_implicit_const || real > UINT16_MAX) {
        problem_ = "the real form behind DW_FORM_indirect is not allowed";
        real = DW_FORM_flag_present;
    }
    form_ = static_cast<uint32_t>(real);
}

void FormReader::skip()
{
    resolve();
    int size = fixed_form_size(form_, unit_.widths);
    if (size >= 0) {
        in_.skip(static_cast<uint64_t>(size));
        return;
    }
    switch (form_) {
    case DW_FORM_string:
        in_.string();
        break;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
    case DW_FORM_sdata:
        in_.uleb();
        break;
    default:
        if (is_expression())
            in_.skip(block_size());
        else
            problem_ = "an attribute has a form that is not known";
        break;
    }
}

uint64_t FormReader::block_size()
{
    switch (form_) {
    case DW_FORM_block1:
        return in_.read<uint8_t>();
    case DW_FORM_block2:
        return in_.read<uint16_t>();
    case DW_FORM_block4:
        return in_.read<uint32_t>();
    default: // DW_FORM_block, DW_FORM_exprloc
        return in_.uleb();
    }
}

/// Reads an index or offset: a LEB128, unless the form has a fixed size.
uint64_t FormReader::number()
{
    const int size = fixed_form_size(form_, unit_.widths);
    return size < 0 ? in_.uleb() : in_.read_sized(static_cast<unsigned>(size));
}

Constant FormReader::constant()
{
    resolve();
    switch (form_) {
    case DW_FORM_data1:
        return {in_.read<uint8_t>(), true};
    case DW_FORM_data2:
        return {in_.read<uint16_t>(), true};
    case DW_FORM_implicit_const:
        return {static_cast<uint64_t>(implicit_), true};
    case DW_FORM_flag:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_sec_offset:
        return {relocated(fixed_size()), true};
    case DW_FORM_udata:
        return {in_.uleb(), true};
    case DW_FORM_sdata:
        return {static_cast<uint64_t>(in_.sleb()), true};
    case DW_FORM_flag_present:
        return {1, true};
    default:
        skip();
        return {};
    }
}

std::optional<EnumeratorValue> FormReader::enumerator()
{
    resolve();
    const Constant value = constant();
    if (!value.known)
        return std::nullopt;
    return EnumeratorValue{value.value, form_ == DW_FORM_sdata || form_ == DW_FORM_implicit_const};
}

std::optional<int64_t> FormReader::signed_constant()
{
    resolve();
    const Constant constant = this->constant();
    if (!constant.known)
        return std::nullopt;
    switch (form_) {
    case DW_FORM_data1:
        return static_cast<int8_t>(constant.value);
    case DW_FORM_data2:
        return static_cast<int16_t>(constant.value);
    case DW_FORM_data4:
        return static_cast<int32_t>(constant.value);
    default:
        return static_cast<int64_t>(constant.value);
    }
}

void FormReader::count(const char *text)
{
    file_.string_reads.add(std::strlen(text), DwarfFile::usual_string);
    if (file_.string_reads.are_too_many())
        problem_ = DwarfFile::too_many_strings;
}

const char *FormReader::string()
{
    resolve();
    switch (form_) {
    case DW_FORM_string:
        return in_.string();
    case DW_FORM_strp:
        return string_at(file_.str, relocated(unit_.widths.offset));
    case DW_FORM_line_strp:
        return string_at(file_.line_str, relocated(unit_.widths.offset));
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        break;
    default:
        skip();
        return nullptr;
    }
    if (const auto offset = table_entry(file_.str_offsets, unit_.str_offsets_base, number()))
        return string_at(file_.str, *offset);
    problem_ = "a string index lies beyond the end of .debug_str_offsets";
    return nullptr;
}

uint32_t FormReader::reference()
{
    resolve();
    switch (form_) {
    case DW_FORM_ref4:
        return local_reference(in_.read<uint32_t>());
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        return local_reference(number());
    case DW_FORM_ref_addr: {
        uint64_t offset = relocated(fixed_size());
        return offset < file_.info.data.size() ? static_cast<uint32_t>(offset)
                                               : skipped(Skip::unresolved_reference);
    }
    case DW_FORM_ref_sig8:
        if (const TypeUnit *found = find_type(unit_, in_.read<uint64_t>())) {
            type_units_.push_back(found);
            return found->type;
        }
        return skipped(Skip::type_unit_reference);
    default:
        skip();
        return skipped(Skip::unresolved_reference);
    }
}

std::optional<uint64_t> FormReader::table_entry(const DebugSection &section, uint64_t base,
                                                uint64_t index) const
{
    const unsigned width = unit_.widths.offset;
    const uint64_t at = base + index * width, size = section.data.size();
    if (base > size || index > size || at > size || size - at < width)
        return std::nullopt;
    DebugCursor in(section.data, at, size, file_.order());
    return file_.value_at(section, at, in.read_sized(width));
}

/// Where list `index` begins in `lists`, by the table at `base`. Empty if the table's entry lies
/// outside of the section. The result may lie outside, too.
std::optional<uint64_t> FormReader::list_offset(const DebugSection &lists, uint64_t base,
                                                uint64_t index) const
{
    const auto entry = table_entry(lists, base, index);
    return entry ? std::optional(base + *entry) : std::nullopt;
}

LocationAttr FormReader::location()
{
    resolve();
    LocationAttr out;
    if (is_expression()) {
        out.kind = LocationAttr::expression;
        out.size = block_size();
        out.offset = in_.offset();
        in_.skip(out.size);
        return out;
    }
    switch (form_) {
    case DW_FORM_data4: // DWARF 2 and 3
    case DW_FORM_data8:
    case DW_FORM_sec_offset:
        out.kind = LocationAttr::list;
        out.offset = constant().value + unit_.loc_base;
        return out;
    case DW_FORM_loclistx:
        if (const auto offset = list_offset(file_.loclists, unit_.loclists_base, in_.uleb())) {
            out.kind = LocationAttr::list;
            out.offset = *offset;
        }
        return out;
    default:
        skip();
        return out;
    }
}

std::optional<AddressRef> FormReader::address()
{
    resolve();
    switch (form_) {
    case DW_FORM_addr: {
        uint64_t at = in_.offset();
        in_.skip(unit_.widths.address);
        return file_.address_at(file_.info, at);
    }
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        return unit_.indexed_address(number());
    default:
        skip();
        return std::nullopt;
    }
}

std::optional<AddressRef> FormReader::range_start()
{
    resolve();
    if (form_ != DW_FORM_rnglistx || !file_.is_split()) {
        skip();
        return std::nullopt;
    }
    auto offset = list_offset(file_.rnglists, unit_.rnglists_base, in_.uleb());
    if (!offset)
        return std::nullopt;
    // Any number of functions may refer to one list, and a LEB128 may be as long as the section. So
    // only the start of the list is read: three entries without needless bytes have at most 33.
    constexpr uint64_t most_bytes = 64;
    DebugCursor in(file_.rnglists.data, *offset, *offset + most_bytes, file_.order());
    std::optional<AddressRef> base = unit_.low_pc, start;
    bool found = false;
    // For one range, compilers write at most three entries: perhaps a base, the range, the end.
    for (int entries = 0; entries < 3 && !in.overrun(); ++entries) {
        const auto kind = in.read<uint8_t>();
        if (kind == DW_RLE_end_of_list && !in.overrun())
            return start;
        if (kind == DW_RLE_base_addressx) {
            base = unit_.indexed_address(in.uleb());
            continue;
        }
        if (found)
            return std::nullopt; // a second range
        found = true;
        if (kind == DW_RLE_startx_length || kind == DW_RLE_startx_endx) {
            start = unit_.indexed_address(in.uleb());
        } else if (kind == DW_RLE_offset_pair) {
            const uint64_t begin = in.uleb();
            if (base)
                start = base->plus(begin);
        } else {
            return std::nullopt;
        }
        in.uleb(); // the end or length of the range
    }
    return std::nullopt;
}

} // namespace btflink::emit
