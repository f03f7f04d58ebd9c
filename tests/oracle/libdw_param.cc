// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. fentry programs read a function's arguments from the registers that the ABI names. A
// compiler that knows all callers may have put a parameter elsewhere; only its location list tells.
//
// Method. The first entry of the list is valid at the function's entry, so it decides: a register,
// or a value derived from one. Later entries count only as DW_OP_entry_value(register), which names
// the register on entry wherever it stands. An aggregate of several registers comes in pieces; its
// first register decides.
//
// The rules are pahole's (F-P2): what is called consistent must not depend on the tool.
#include "emit/param_location.h"

#include <dwarf.h>

namespace btflink::emit
{

namespace
{

bool is_reg(uint8_t atom)
{
    return atom >= DW_OP_reg0 && atom <= DW_OP_reg31;
}
bool is_breg(uint8_t atom)
{
    return atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
}

class Decoder
{
public:
    Decoder(Dwarf_Attribute &attr, const Arch &arch, uint64_t type_size)
        : attr_(attr), arch_(arch), type_size_(type_size)
    {
    }

    ParamLocation run()
    {
        out_.present = true;
        Dwarf_Addr base, start, end;
        Dwarf_Op *ops;
        size_t count;
        ptrdiff_t offset = 0;
        for (bool first = true;
             (offset = dwarf_getlocations(&attr_, offset, &base, &start, &end, &ops, &count)) > 0;
             first = false) {
            if (count == 0)
                continue;
            bool computed = ops[count - 1].atom == DW_OP_stack_value;
            if (count == 1 || (count == 2 && computed))
                single(ops[0], computed, first);
            else
                several(ops, count, first);
        }
        return out_;
    }

private:
    void found(int reg)
    {
        if (out_.reg == ParamLocation::unknown_reg)
            out_.reg = reg;
    }

    void single(const Dwarf_Op &op, bool computed, bool first)
    {
        if (is_reg(op.atom) && first) {
            found(op.atom - DW_OP_reg0);
        } else if (is_breg(op.atom) && first && computed) {
            found(op.atom - DW_OP_breg0);
        } else if (op.atom == DW_OP_entry_value || op.atom == DW_OP_GNU_entry_value) {
            Dwarf_Attribute entry;
            Dwarf_Op *entry_ops;
            size_t entry_count;
            if (dwarf_getlocation_attr(&attr_, &op, &entry) == 0 &&
                dwarf_getlocation(&entry, &entry_ops, &entry_count) == 0 && entry_count == 1 &&
                is_reg(entry_ops[0].atom))
                found(entry_ops[0].atom - DW_OP_reg0);
        }
    }

    void several(const Dwarf_Op *ops, size_t count, bool first)
    {
        uint8_t atom = ops[0].atom;
        if ((atom >= DW_OP_lit0 && atom <= DW_OP_lit31) || atom == DW_OP_constu ||
            atom == DW_OP_consts)
            return;
        if (type_size_ <= arch_.address_size || !arch_.aggregates_in_two_regs) {
            if (!first)
                return;
            if (is_reg(atom)) {
                found(atom - DW_OP_reg0);
            } else if (is_breg(atom)) {
                for (size_t i = 1; i < count; ++i)
                    if (ops[i].atom == DW_OP_stack_value) {
                        found(atom - DW_OP_breg0);
                        break;
                    }
            }
            return;
        }
        for (size_t i = 0; i < count; ++i)
            if (is_reg(ops[i].atom))
                found(ops[i].atom - DW_OP_reg0);
    }

    Dwarf_Attribute &attr_;
    const Arch &arch_;
    uint64_t type_size_;
    ParamLocation out_;
};

} // namespace

ParamLocation decode_param_location(Dwarf_Attribute &attr, const Arch &arch, uint64_t type_size)
{
    return Decoder(attr, arch, type_size).run();
}

} // namespace btflink::emit
