// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What differs between architectures, as one small table. To support another one, add a row; the
// byte order, the address size and REL or RELA are read from each file.
#pragma once

#include <cstdint>
#include <span>

namespace btflink
{

/// Relocation types that place an absolute address or offset, as debug sections use them.
struct AbsoluteReloc {
    uint32_t type; // R_*
    uint8_t size;  // bytes that it fills
};

struct Arch {
    const char *name;                            // as in the kernel's ARCH, for messages
    uint16_t machine;                            // EM_*
    uint8_t address_size;                        // bytes of a pointer
    bool rela;                                   // relocations carry their addend (SHT_RELA)
    uint32_t reloc_none;                         // R_*_NONE
    uint32_t reloc_abs32;                        // 32-bit absolute: DATASEC offsets in .rel[a].BTF
    uint32_t reloc_pointer;                      // pointer-sized absolute: the address pool
    std::span<const AbsoluteReloc> debug_relocs; // all that debug sections may hold
    // Parameter passing (pahole-compatible parameter checks). DWARF register numbers, -1: not
    // known.
    std::span<const int8_t> param_regs;
    uint8_t param_reg_count;     // registers that pass parameters; 0: no checks
    bool aggregates_in_two_regs; // a struct of two words is passed in two registers
};

/// nullptr: not supported.
const Arch *find_arch(uint16_t machine, uint8_t address_size);

} // namespace btflink
