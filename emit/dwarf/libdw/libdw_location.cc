// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The rules are those of fast/location.cc, which says why they are so; the code is not.
#include "emit/dwarf/libdw/libdw_location.h"

#include <algorithm>
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

bool is_constant(uint8_t atom)
{
    return (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) || atom == DW_OP_constu ||
           atom == DW_OP_consts;
}

class ParamDecoder
{
public:
    explicit ParamDecoder(Dwarf_Attribute &attr) : attr_(attr) {}

    ParamLocation run()
    {
        Dwarf_Addr base, start, end;
        Dwarf_Op *ops;
        size_t count;
        ptrdiff_t offset = 0;
        for (bool first = true;
             (offset = dwarf_getlocations(&attr_, offset, &base, &start, &end, &ops, &count)) > 0;
             first = false) {
            if (count == 0)
                continue;
            // Some versions of libdw do not know it and end here. So does the other reader: what it
            // marks is not the parameter yet.
            if (std::ranges::find(ops, ops + count, DW_OP_GNU_uninit, &Dwarf_Op::atom) !=
                ops + count)
                break;
            bool computed = ops[count - 1].atom == DW_OP_stack_value;
            out_.is_constant |= first && is_constant(ops[0].atom);
            if (count == 1 || (count == 2 && computed))
                single(ops[0], computed, first);
            else if (!is_constant(ops[0].atom))
                several({ops, count}, first);
        }
        return out_;
    }

private:
    static void found(int8_t &where, int reg)
    {
        if (where < 0)
            where = static_cast<int8_t>(reg);
    }

    void found(int reg)
    {
        found(out_.scalar, reg);
        found(out_.aggregate, reg);
    }

    void single(const Dwarf_Op &op, bool computed, bool first)
    {
        out_.on_stack |= first && op.atom == DW_OP_fbreg;
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

    void several(std::span<const Dwarf_Op> ops, bool first)
    {
        if (first && is_reg(ops[0].atom))
            found(out_.scalar, ops[0].atom - DW_OP_reg0);
        if (first && is_breg(ops[0].atom) &&
            std::ranges::find(ops, DW_OP_stack_value, &Dwarf_Op::atom) != ops.end())
            found(out_.scalar, ops[0].atom - DW_OP_breg0);
        Dwarf_Word offset = 0;
        for (const Dwarf_Op &op : ops) {
            if (is_reg(op.atom))
                found(out_.aggregate, op.atom - DW_OP_reg0);
            if (op.atom != DW_OP_piece)
                continue;
            if (&op != ops.data() && offset < 64)
                out_.pieces |= uint64_t{1} << offset;
            if (__builtin_add_overflow(offset, op.number, &offset))
                offset = UINT64_MAX;
        }
    }

    Dwarf_Attribute &attr_;
    ParamLocation out_;
};

} // namespace

ParamLocation param_location(Dwarf_Attribute &attr)
{
    return ParamDecoder(attr).run();
}

std::optional<AddressRef> variable_address(const LibdwFile &file, Dwarf_Attribute &attr,
                                           uint64_t addr_base)
{
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Block block;
    if (dwarf_getlocation(&attr, &ops, &count) != 0 || count == 0 || count > 2 ||
        dwarf_formblock(&attr, &block) != 0)
        return std::nullopt;
    if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
        return std::nullopt;
    std::optional<AddressRef> address;
    if (ops[0].atom == DW_OP_addr)
        address = file.address_in_info(block.data + 1);
    else if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index)
        address = file.address_in_pool(ops[0].number, addr_base);
    if (address && count == 2) {
        address->addend += static_cast<int64_t>(ops[1].number);
        address->offset += ops[1].number;
    }
    return address;
}

/// DWARF 2 to 4 allow an expression: a lone DW_OP_plus_uconst (or constant) counts, anything else
/// is not a constant layout.
std::optional<uint64_t> member_offset(Dwarf_Attribute &attr)
{
    Dwarf_Word value;
    if (dwarf_formudata(&attr, &value) == 0)
        return value;
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_getlocation(&attr, &ops, &count) == 0 && count == 1 &&
        (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu))
        return ops[0].number;
    return std::nullopt;
}

} // namespace btflink::emit
