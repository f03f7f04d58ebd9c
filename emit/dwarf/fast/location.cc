// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Walks through location lists, and decodes location expressions into short arrays. Decoding ends
// at an unknown operation, because an expression that contains one is not a register, an address or
// a constant.
#include "emit/dwarf/fast/unit.h"

#include "emit/dwarf/debug_cursor.h"
#include "emit/dwarf/die_attributes.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// An expression with more operations counts as one that cannot be decoded. Those that BTF needs
/// have fewer.
constexpr size_t max_ops = 32;

class Expression
{
public:
    /// Decodes the bytes [offset, offset + size) of a section.
    Expression(const DwarfFile &file, const UnitWidths &widths, Bytes section, uint64_t offset,
               uint64_t size)
    {
        DebugCursor in(section, offset, offset + size, file.order());
        bool valid = size <= section.size() && offset <= section.size() - size;
        while (valid && !in.at_end() && count_ < max_ops) {
            LocationOp op{};
            op.atom = in.read<uint8_t>();
            op.position = in.offset();
            valid = read_operands(in, op, widths) && !in.overrun();
            if (valid)
                ops_[count_++] = op;
        }
        complete_ = valid && in.at_end();
    }

    /// Was the whole expression decoded?
    bool complete() const { return complete_; }
    size_t size() const { return count_; }
    const LocationOp &operator[](size_t i) const { return ops_[i]; }
    std::span<const LocationOp> ops() const { return {ops_, count_}; }

private:
    /// Reads the operands of op.atom as far as they are needed. Returns false if the operation is
    /// unknown.
    static bool read_operands(DebugCursor &in, LocationOp &op, const UnitWidths &widths)
    {
        if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_reg31)
            return true;
        if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
            in.uleb();
            return true;
        }
        const unsigned reference = widths.version <= 2 ? widths.address : widths.offset;
        switch (op.atom) {
        case DW_OP_addr:
            in.skip(widths.address);
            return true;
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_pick:
        case DW_OP_deref_size:
        case DW_OP_xderef_size:
            in.skip(1);
            return true;
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_call2:
        case DW_OP_skip:
        case DW_OP_bra:
            in.skip(2);
            return true;
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_call4:
        case DW_OP_GNU_parameter_ref:
            in.skip(4);
            return true;
        case DW_OP_const8u:
        case DW_OP_const8s:
            in.skip(8);
            return true;
        case DW_OP_constu:
        case DW_OP_consts:
        case DW_OP_fbreg:
        case DW_OP_plus_uconst:
        case DW_OP_regx:
        case DW_OP_piece:
        case DW_OP_addrx:
        case DW_OP_constx:
        case DW_OP_convert:
        case DW_OP_reinterpret:
        case DW_OP_GNU_convert:
        case DW_OP_GNU_reinterpret:
        case DW_OP_GNU_addr_index:
        case DW_OP_GNU_const_index:
            op.number = in.uleb();
            return true;
        case DW_OP_bregx:
        case DW_OP_bit_piece:
        case DW_OP_regval_type:
        case DW_OP_GNU_regval_type:
            in.uleb();
            in.uleb();
            return true;
        case DW_OP_deref_type:
        case DW_OP_GNU_deref_type:
        case DW_OP_xderef_type:
            in.skip(1);
            in.uleb();
            return true;
        case DW_OP_const_type:
        case DW_OP_GNU_const_type:
            in.uleb();
            in.skip(in.read<uint8_t>());
            return true;
        case DW_OP_implicit_value:
        case DW_OP_entry_value:
        case DW_OP_GNU_entry_value:
            op.number = in.uleb();
            op.position = in.offset();
            in.skip(op.number);
            return true;
        case DW_OP_implicit_pointer:
        case DW_OP_GNU_implicit_pointer:
            in.skip(reference);
            in.uleb();
            return true;
        case DW_OP_call_ref:
        case DW_OP_GNU_variable_value:
            in.skip(reference);
            return true;
        default:
            // The other stack operations have no operands. DW_OP_GNU_uninit, which has none either,
            // counts as unknown: the location that it marks does not hold the parameter yet.
            return (op.atom >= DW_OP_deref && op.atom <= DW_OP_ne) || op.atom == DW_OP_nop ||
                   op.atom == DW_OP_push_object_address || op.atom == DW_OP_form_tls_address ||
                   op.atom == DW_OP_call_frame_cfa || op.atom == DW_OP_stack_value ||
                   op.atom == DW_OP_GNU_push_tls_address;
        }
    }

    LocationOp ops_[max_ops];
    size_t count_ = 0;
    bool complete_ = false;
};

class ParamDecoder
{
public:
    explicit ParamDecoder(const Unit &unit) : file_(*unit.file), unit_(unit) {}

    ParamLocation run(const LocationAttr &location)
    {
        if (location.kind == LocationAttr::expression)
            add_entry(file_.info.data, location.offset, location.size);
        else if (location.kind == LocationAttr::list)
            add_list(location.offset);
        return rules_.result();
    }

private:
    /// Adds a lone expression, or an entry of a list, to rules_. Returns false if it cannot be
    /// decoded; then the rest of the list is ignored.
    bool add_entry(Bytes section, uint64_t offset, uint64_t size)
    {
        const Expression expression(file_, unit_.widths, section, offset, size);
        if (!expression.complete())
            return false;
        const bool has_entry_value = expression.size() && is_entry_value_op(expression[0].atom);
        rules_.add(expression.ops(), has_entry_value ? entry_register(section, expression[0]) : -1);
        return true;
    }

    int entry_register(Bytes section, const LocationOp &op) const
    {
        const Expression inner(file_, unit_.widths, section, op.position, op.number);
        return inner.complete() && inner.size() == 1 && is_register_op(inner[0].atom)
                   ? inner[0].atom - DW_OP_reg0
                   : -1;
    }

    void add_list(uint64_t offset)
    {
        const uint16_t version = unit_.widths.version;
        const Bytes section = (version < 5 ? file_.loc : file_.loclists).data;
        DebugCursor in(section, offset, section.size(), file_.order());
        const std::byte *const begin = in.position();
        if (version >= 5 || file_.is_split())
            add_list5(in, section);
        else
            add_list4(in);
        file_.list_reads.add(static_cast<uint64_t>(in.position() - begin), DwarfFile::usual_list);
    }

    /// A list of DWARF 5, or of GNU's form for split DWARF 4. The latter has only the kinds 0 to 3:
    /// the end, base_addressx, startx_endx and startx_length. In it, the length of a range has 4
    /// bytes, and the size of an expression 2.
    void add_list5(DebugCursor &in, Bytes section)
    {
        const bool is_old = unit_.widths.version < 5;
        while (!in.overrun() && !in.at_end()) {
            bool has_expression = true;
            switch (in.read<uint8_t>()) {
            case DW_LLE_base_addressx:
                in.uleb();
                has_expression = false;
                break;
            case DW_LLE_startx_length:
                in.uleb();
                if (is_old)
                    in.skip(4);
                else
                    in.uleb();
                break;
            case DW_LLE_startx_endx:
            case DW_LLE_offset_pair:
                in.uleb();
                in.uleb();
                break;
            case DW_LLE_default_location:
                break;
            case DW_LLE_base_address:
                in.skip(unit_.widths.address);
                has_expression = false;
                break;
            case DW_LLE_start_end:
                in.skip(2 * unit_.widths.address);
                break;
            case DW_LLE_start_length:
                in.skip(unit_.widths.address);
                in.uleb();
                break;
            case DW_LLE_GNU_view_pair:
                in.uleb();
                in.uleb();
                has_expression = false;
                break;
            default: // the end, or an unknown kind
                return;
            }
            if (!has_expression)
                continue;
            const uint64_t size = is_old ? in.read<uint16_t>() : in.uleb(), at = in.offset();
            in.skip(size);
            if (in.overrun() || !add_entry(section, at, size))
                return;
        }
    }

    /// A list of DWARF 2 to 4.
    void add_list4(DebugCursor &in)
    {
        const DebugSection &section = file_.loc;
        uint8_t width = unit_.widths.address;
        while (!in.overrun() && !in.at_end()) {
            uint64_t at = in.offset();
            uint64_t begin = in.read_sized(width), end = in.read_sized(width);
            if (begin == 0 && end == 0) { // the end, unless relocations make this a range
                size_t reloc = section.relocs.find(at);
                bool relocated =
                    reloc < section.relocs.size() && section.relocs.offset(reloc) < at + 2 * width;
                if (!relocated)
                    return;
            }
            if (begin == (width == 8 ? UINT64_MAX : UINT32_MAX))
                continue; // selects a base address
            uint64_t size = in.read<uint16_t>(), expression = in.offset();
            in.skip(size);
            if (in.overrun() || !add_entry(section.data, expression, size))
                return;
        }
    }

    const DwarfFile &file_;
    const Unit &unit_;
    ParamRules rules_;
};

} // namespace

ParamLocation decode_param_location(const Unit &unit, const LocationAttr &location)
{
    return ParamDecoder(unit).run(location);
}

std::optional<AddressRef> decode_fixed_address(const Unit &unit, const LocationAttr &location)
{
    const DwarfFile &file = *unit.file;
    if (location.kind != LocationAttr::expression)
        return std::nullopt;
    Expression ops(file, unit.widths, file.info.data, location.offset, location.size);
    if (!ops.complete() || ops.size() == 0 || ops.size() > 2 ||
        (ops.size() == 2 && ops[1].atom != DW_OP_plus_uconst))
        return std::nullopt;
    std::optional<AddressRef> address;
    if (ops[0].atom == DW_OP_addr)
        address = file.address_at(file.info, ops[0].position);
    else if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index)
        address = unit.indexed_address(ops[0].number);
    return address && ops.size() == 2 ? address->plus(ops[1].number) : address;
}

Constant decode_member_offset(const Unit &unit, const LocationAttr &location)
{
    const DwarfFile &file = *unit.file;
    if (location.kind != LocationAttr::expression)
        return {};
    Expression ops(file, unit.widths, file.info.data, location.offset, location.size);
    if (ops.complete() && ops.size() == 1 &&
        (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu))
        return {ops[0].number, true};
    return {};
}

} // namespace btflink::emit
