// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Locations of parameters, variables and members, with libdw.
#pragma once

#include "emit/dwarf/dwarf_file.h"
#include "emit/dwarf/libdw/libdw_file.h"
#include "emit/tree/die_tree.h"

namespace btflink::emit
{

ParamLocation param_location(Dwarf_Attribute &attr);

/// The address of a variable whose location is DW_OP_addr or DW_OP_addrx, perhaps plus a constant.
std::optional<AddressRef> variable_address(const LibdwFile &file, Dwarf_Attribute &attr,
                                           uint64_t addr_base);

/// In bytes. Empty if it is not a constant.
std::optional<uint64_t> member_offset(Dwarf_Attribute &attr);

} // namespace btflink::emit
