// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// DWARF location expressions and lists (DWARF 5, sections 2.5, 2.6, 7.7), as far as BTF needs them:
// the address of a variable, and the register that holds a parameter when its function is entered.
#pragma once

#include "emit/dwarf/fast/unit.h"

namespace btflink::emit
{

/// A DW_AT_location: an expression (bytes of .debug_info), or a list elsewhere.
struct LocationAttr {
    enum Kind : uint8_t { none, expression, list } kind = none;
    uint64_t offset = 0; // expression: of its first byte in .debug_info; list: in .debug_loc(lists)
    uint64_t size = 0;   // expression: bytes
};

ParamLocation decode_param_location(const Unit &unit, const LocationAttr &location);

/// The address of a variable whose location is DW_OP_addr or DW_OP_addrx, perhaps plus a constant
/// (clang merges globals into one symbol). Empty for variables in registers, thread-local ones, and
/// those that were optimised away.
std::optional<AddressRef> decode_fixed_address(const Unit &unit, const LocationAttr &location);

/// A constant member offset in the form of an expression: a lone DW_OP_plus_uconst or DW_OP_constu.
std::optional<uint64_t> decode_member_offset(const Unit &unit, const LocationAttr &location);

} // namespace btflink::emit
