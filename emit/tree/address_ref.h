// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The address of a function or variable of a unit.
#pragma once

#include <cstdint>

namespace btflink::emit
{

/// An address in a unit's entries. In an object it is relative to a symbol; in a linked file it is
/// final.
struct AddressRef {
    uint32_t symbol = 0; // index into .symtab, or the reader's own number; 0 in linked files
    int64_t addend = 0;
    uint64_t offset = 0;  // in `section` of the input file; in linked files the address
    uint32_t section = 0; // section that the symbol is defined in; 0: common, undefined,
                          // absolute, and in linked files
    bool common = false;
    bool weak = false;
    bool is_final = false; // linked file: `offset` is the address
};

} // namespace btflink::emit
