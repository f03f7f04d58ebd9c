// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. fentry programs read a function's arguments from the registers that the ABI names. A
// compiler that knows all callers may have put a parameter elsewhere; only its location list tells.
//
// Method. The first entry of the list is valid at the function's entry, so it decides: a register,
// or a value derived from one. Later entries count only as DW_OP_entry_value(register), which names
// the register on entry wherever it stands. An aggregate of several registers comes in pieces; its
// first register decides. The rules are pahole's (F-P2): what is called consistent must not depend
// on the tool.
//
// Expressions are decoded into a short array. What we do not know ends the decoding: it cannot be a
// register, an address or a constant.
#include "emit/dwarf/fast/location.h"

#include "emit/dwarf/fast/debug_cursor.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

struct Op {
    uint8_t atom;
    uint64_t number;   // first operand
    uint64_t position; // of the operand, in the section
    uint64_t end;      // of the operands
};

/// Longer ones do not describe parameters; the rest is not looked at.
constexpr size_t max_ops = 32;

class Expression
{
public:
    /// The bytes [offset, offset + size) of a section.
    Expression(const DwarfFile &file, const UnitWidths &widths, Bytes section, uint64_t offset,
               uint64_t size)
    {
        DebugCursor in(section, offset, offset + size, file.order());
        valid_ = size <= section.size() && offset <= section.size() - size;
        while (valid_ && !in.at_end() && count_ < max_ops) {
            Op op{};
            op.atom = in.read<uint8_t>();
            op.position = in.offset();
            valid_ = operands(in, op, widths) && !in.overrun();
            op.end = in.offset();
            if (valid_)
                ops_[count_++] = op;
        }
        complete_ = valid_ && in.at_end();
    }

    bool valid() const { return valid_; }
    bool complete() const { return complete_; } // all of it was decoded
    size_t size() const { return count_; }
    const Op &operator[](size_t i) const { return ops_[i]; }

private:
    /// Reads what follows op.atom. False: not known.
    static bool operands(DebugCursor &in, Op &op, const UnitWidths &widths)
    {
        if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_reg31)
            return true;
        if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
            op.number = static_cast<uint64_t>(in.sleb());
            return true;
        }
        switch (op.atom) {
        case DW_OP_addr:
            op.number = in.read_sized(widths.address);
            return true;
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_pick:
        case DW_OP_deref_size:
        case DW_OP_xderef_size:
            op.number = in.read<uint8_t>();
            return true;
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_call2:
        case DW_OP_skip:
        case DW_OP_bra:
            op.number = in.read<uint16_t>();
            return true;
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_call4:
        case DW_OP_GNU_parameter_ref:
            op.number = in.read<uint32_t>();
            return true;
        case DW_OP_const8u:
        case DW_OP_const8s:
            op.number = in.read<uint64_t>();
            return true;
        case DW_OP_constu:
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
        case DW_OP_consts:
        case DW_OP_fbreg:
            op.number = static_cast<uint64_t>(in.sleb());
            return true;
        case DW_OP_bregx:
        case DW_OP_bit_piece:
        case DW_OP_regval_type:
        case DW_OP_GNU_regval_type:
            op.number = in.uleb();
            in.sleb();
            return true;
        case DW_OP_deref_type:
        case DW_OP_GNU_deref_type:
        case DW_OP_xderef_type:
            op.number = in.read<uint8_t>();
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
            in.skip(widths.version <= 2 ? widths.address : widths.offset);
            in.sleb();
            return true;
        case DW_OP_call_ref:
        case DW_OP_GNU_variable_value:
            in.skip(widths.version <= 2 ? widths.address : widths.offset);
            return true;
        default:
            // Stack operations have no operands. DW_OP_GNU_uninit is not among them: what it
            // marks is not the parameter yet.
            return (op.atom >= DW_OP_deref && op.atom <= DW_OP_ne) || op.atom == DW_OP_nop ||
                   op.atom == DW_OP_push_object_address || op.atom == DW_OP_form_tls_address ||
                   op.atom == DW_OP_call_frame_cfa || op.atom == DW_OP_stack_value ||
                   op.atom == DW_OP_GNU_push_tls_address;
        }
    }

    Op ops_[max_ops];
    size_t count_ = 0;
    bool valid_ = false, complete_ = false;
};

bool is_reg(uint8_t atom)
{
    return atom >= DW_OP_reg0 && atom <= DW_OP_reg31;
}
bool is_breg(uint8_t atom)
{
    return atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
}
bool is_constant(uint8_t atom)
{
    return (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) || atom == DW_OP_constu ||
           atom == DW_OP_consts;
}

class ParamDecoder
{
public:
    explicit ParamDecoder(const Unit &unit) : file_(*unit.file), unit_(unit) {}

    ParamLocation run(const LocationAttr &location)
    {
        if (location.kind == LocationAttr::expression)
            entry(file_.info.data, location.offset, location.size, true);
        else if (location.kind == LocationAttr::list && unit_.widths.version >= 5)
            list5(location.offset);
        else if (location.kind == LocationAttr::list && file_.is_split())
            list_of_split4(location.offset);
        else if (location.kind == LocationAttr::list)
            list4(location.offset);
        return out_;
    }

private:
    static void found(int8_t &where, unsigned reg)
    {
        if (where < 0)
            where = static_cast<int8_t>(reg);
    }

    void found(unsigned reg)
    {
        found(out_.scalar, reg);
        found(out_.aggregate, reg);
    }

    /// One entry of a list. False: it cannot be decoded, and what follows does not count.
    bool entry(Bytes section, uint64_t offset, uint64_t size, bool first)
    {
        Expression ops(file_, unit_.widths, section, offset, size);
        if (!ops.complete())
            return false;
        if (ops.size() == 0)
            return true;
        bool computed = ops[ops.size() - 1].atom == DW_OP_stack_value;
        if (ops.size() == 1 || (ops.size() == 2 && computed))
            single(section, ops[0], computed, first);
        else
            several(ops, first);
        return true;
    }

    void single(Bytes section, const Op &op, bool computed, bool first)
    {
        if (is_reg(op.atom) && first) {
            found(op.atom - DW_OP_reg0);
        } else if (is_breg(op.atom) && first && computed) {
            found(op.atom - DW_OP_breg0);
        } else if (op.atom == DW_OP_fbreg) {
            out_.on_stack |= first;
        } else if (is_constant(op.atom)) {
            out_.is_constant |= first;
        } else if (op.atom == DW_OP_entry_value || op.atom == DW_OP_GNU_entry_value) {
            Expression inner(file_, unit_.widths, section, op.position, op.number);
            if (inner.complete() && inner.size() == 1 && is_reg(inner[0].atom))
                found(inner[0].atom - DW_OP_reg0);
        }
    }

    void several(const Expression &ops, bool first)
    {
        uint8_t atom = ops[0].atom;
        if (is_constant(atom)) {
            out_.is_constant |= first;
            return;
        }
        if (first && is_reg(atom))
            found(out_.scalar, atom - DW_OP_reg0);
        if (first && is_breg(atom))
            for (size_t i = 1; i < ops.size(); ++i)
                if (ops[i].atom == DW_OP_stack_value)
                    found(out_.scalar, atom - DW_OP_breg0);
        uint64_t offset = 0;
        for (size_t i = 0; i < ops.size(); ++i) {
            if (is_reg(ops[i].atom))
                found(out_.aggregate, ops[i].atom - DW_OP_reg0);
            if (ops[i].atom != DW_OP_piece)
                continue;
            if (i > 0 && offset < 64) // a piece that comes first is of what is nowhere
                out_.pieces |= uint64_t{1} << offset;
            offset = ops[i].number > UINT64_MAX - offset ? UINT64_MAX : offset + ops[i].number;
        }
    }

    void list5(uint64_t offset)
    {
        Bytes section = file_.loclists.data;
        DebugCursor in(section, offset, section.size(), file_.order());
        bool first = true;
        while (!in.overrun() && !in.at_end()) {
            bool has_expression = true;
            switch (in.read<uint8_t>()) {
            case DW_LLE_end_of_list:
                return;
            case DW_LLE_base_addressx:
                in.uleb();
                has_expression = false;
                break;
            case DW_LLE_startx_endx:
            case DW_LLE_startx_length:
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
            default:
                return;
            }
            if (!has_expression)
                continue;
            uint64_t size = in.uleb(), at = in.offset();
            in.skip(size);
            if (in.overrun() || !entry(section, at, size, first))
                return;
            first = false;
        }
    }

    /// GNU's form for split DWARF 4: with indices of addresses, and lengths of four bytes.
    void list_of_split4(uint64_t offset)
    {
        Bytes section = file_.loc.data;
        DebugCursor in(section, offset, section.size(), file_.order());
        bool first = true;
        while (!in.overrun() && !in.at_end()) {
            switch (in.read<uint8_t>()) {
            case DW_LLE_GNU_base_address_selection_entry:
                in.uleb();
                continue;
            case DW_LLE_GNU_start_end_entry:
                in.uleb();
                in.uleb();
                break;
            case DW_LLE_GNU_start_length_entry:
                in.uleb();
                in.skip(4);
                break;
            case DW_LLE_GNU_view_pair:
                in.uleb();
                in.uleb();
                continue;
            default: // the end
                return;
            }
            uint64_t size = in.read<uint16_t>(), expression = in.offset();
            in.skip(size);
            if (in.overrun() || !entry(section, expression, size, first))
                return;
            first = false;
        }
    }

    void list4(uint64_t offset)
    {
        const DebugSection &section = file_.loc;
        DebugCursor in(section.data, offset, section.data.size(), file_.order());
        uint8_t width = unit_.widths.address;
        bool first = true;
        while (!in.overrun() && !in.at_end()) {
            uint64_t at = in.offset();
            uint64_t begin = in.read_sized(width), end = in.read_sized(width);
            if (begin == 0 && end == 0) {
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
            if (in.overrun() || !entry(section.data, expression, size, first))
                return;
            first = false;
        }
    }

    const DwarfFile &file_;
    const Unit &unit_;
    ParamLocation out_;
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
    if (address && ops.size() == 2) {
        address->addend += static_cast<int64_t>(ops[1].number);
        address->offset += ops[1].number;
    }
    return address;
}

std::optional<uint64_t> decode_member_offset(const Unit &unit, const LocationAttr &location)
{
    const DwarfFile &file = *unit.file;
    if (location.kind != LocationAttr::expression)
        return std::nullopt;
    Expression ops(file, unit.widths, file.info.data, location.offset, location.size);
    if (ops.complete() && ops.size() == 1 &&
        (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu))
        return ops[0].number;
    return std::nullopt;
}

} // namespace btflink::emit
