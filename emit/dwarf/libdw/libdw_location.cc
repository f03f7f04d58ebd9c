// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Passes decoded locations of parameters to ParamRules; decodes addresses and offsets from others.
#include "emit/dwarf/libdw/libdw_location.h"

#include "emit/dwarf/param_rules.h"

#include <dwarf.h>
#include <vector>

namespace btflink::emit
{

namespace
{

/// The register in DW_OP_entry_value(DW_OP_reg<n>), or -1.
int entry_register(Dwarf_Attribute &attr, const Dwarf_Op &op)
{
    Dwarf_Attribute entry;
    Dwarf_Op *ops;
    size_t count;
    return is_entry_value_op(op.atom) && dwarf_getlocation_attr(&attr, &op, &entry) == 0 &&
                   dwarf_getlocation(&entry, &ops, &count) == 0 && count == 1 &&
                   is_register_op(ops[0].atom)
               ? ops[0].atom - DW_OP_reg0
               : -1;
}

} // namespace

ParamLocation param_location(Dwarf_Attribute &attr)
{
    ParamRules rules;
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_getlocations(&attr, offset, &base, &start, &end, &ops, &count)) > 0) {
        std::vector<LocationOp> entry;
        for (size_t i = 0; i < count; ++i) {
            // The location does not hold the parameter yet. Some versions of libdw do not know this
            // operation and stop here, and so does the fast reader.
            if (ops[i].atom == DW_OP_GNU_uninit)
                return rules.result();
            entry.push_back({ops[i].atom, ops[i].number, 0});
        }
        rules.add(entry, count ? entry_register(attr, ops[0]) : -1);
    }
    return rules.result();
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

/// DWARF 2 to 4 allow expressions. Only a lone DW_OP_plus_uconst or DW_OP_constu is a constant.
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
