// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds where a parameter is when its function is entered, from the parameter's location list.
//
// Problem. fentry programs read a function's arguments from the registers that the ABI names. A
// compiler that knows all callers may have put a parameter elsewhere, as the parameter's location
// list shows.
//
// Method. The first entry of the list counts as valid when the function is entered, whatever its
// range. It may name a register, a value computed from a register, the stack or a constant. Two
// kinds of later entries count, too:
// 1. DW_OP_entry_value(register), perhaps with DW_OP_stack_value, names the register that held the
//    parameter when the function was entered.
// 2. An aggregate in pieces names the registers of the pieces.
// The first register in the list decides. The rules are pahole's, so that both tools leave out the
// same functions.
#include "emit/dwarf/die_attributes.h"

#include <algorithm>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

bool is_base_register_op(uint8_t atom)
{
    return atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
}

bool is_constant_op(uint8_t atom)
{
    return (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) || atom == DW_OP_constu ||
           atom == DW_OP_consts;
}

bool is_stack_value(const LocationOp &op)
{
    return op.atom == DW_OP_stack_value;
}

void set_once(int8_t &reg, int value)
{
    if (reg < 0)
        reg = static_cast<int8_t>(value);
}

} // namespace

bool is_register_op(uint8_t atom)
{
    return atom >= DW_OP_reg0 && atom <= DW_OP_reg31;
}

bool is_entry_value_op(uint8_t atom)
{
    return atom == DW_OP_entry_value || atom == DW_OP_GNU_entry_value;
}

void ParamRules::set_register(int reg)
{
    set_once(out_.scalar, reg);
    set_once(out_.aggregate, reg);
}

void ParamRules::add(std::span<const LocationOp> ops, int entry_register)
{
    if (!ops.empty()) {
        const bool is_computed = is_stack_value(ops.back());
        if (ops.size() == 1 || (ops.size() == 2 && is_computed))
            add_single(ops.front(), is_computed, entry_register);
        else
            add_several(ops);
    }
    first_ = false;
}

void ParamRules::add_single(const LocationOp &op, bool is_computed, int entry_register)
{
    if (entry_register >= 0)
        set_register(entry_register);
    if (!first_)
        return;
    if (is_register_op(op.atom))
        set_register(op.atom - DW_OP_reg0);
    else if (is_base_register_op(op.atom) && is_computed)
        set_register(op.atom - DW_OP_breg0);
    out_.on_stack |= op.atom == DW_OP_fbreg;
    out_.is_constant |= is_constant_op(op.atom);
}

/// Adds several operations: the pieces of an aggregate, or a computation.
void ParamRules::add_several(std::span<const LocationOp> ops)
{
    const uint8_t atom = ops.front().atom;
    if (is_constant_op(atom)) {
        out_.is_constant |= first_;
        return;
    }
    if (first_ && is_register_op(atom))
        set_once(out_.scalar, atom - DW_OP_reg0);
    if (first_ && is_base_register_op(atom) && std::ranges::any_of(ops, is_stack_value))
        set_once(out_.scalar, atom - DW_OP_breg0);
    uint64_t offset = 0;
    for (const LocationOp &op : ops) {
        if (is_register_op(op.atom))
            set_once(out_.aggregate, op.atom - DW_OP_reg0);
        if (op.atom != DW_OP_piece)
            continue;
        if (&op != &ops.front() && offset < 64) // a piece that comes first has no location
            out_.pieces |= uint64_t{1} << offset;
        if (__builtin_add_overflow(offset, op.number, &offset))
            offset = UINT64_MAX;
    }
}

} // namespace btflink::emit
