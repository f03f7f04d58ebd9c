// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Differences between architectures, from a table in arch.cc, which has a row for each address size
// of an architecture. (CONTRIBUTING.md says how to add an architecture.) Byte order is not in the
// table, because it is read from each file.
#pragma once

#include <cstdint>
#include <span>

namespace btflink
{

/// What a relocation does with the value at its place. RISC-V and LoongArch encode the difference
/// of two addresses as two relocations at one place, because their linkers may shorten the code
/// between the addresses.
enum class RelocOp : uint8_t { set, add, subtract };

/// A relocation type that debug sections use.
struct DebugReloc {
    uint32_t type; // R_*
    uint8_t size;  // bytes; 0: a LEB128 (we do not read relocated LEB128s)
    RelocOp op = RelocOp::set;
};

struct Arch {
    const char *name;     // the kernel's ARCH, for messages
    uint16_t machine;     // EM_*
    uint8_t address_size; // bytes of a pointer
    bool rela;            // relocations carry their addend (SHT_RELA)
    uint32_t reloc_none;  // R_*_NONE
    // The relocations that we write for object BTF. Assemblers may choose other absolute ones.
    uint32_t reloc_abs32;                     // 32-bit: DATASEC offsets in .rel[a].BTF
    uint32_t reloc_pointer;                   // pointer-sized: the address pool
    std::span<const DebugReloc> debug_relocs; // all that debug sections may hold
    // Parameter passing, as pahole sees it. param_regs: DWARF numbers of the registers, in order of
    // parameters; empty: any register is accepted.
    std::span<const int8_t> param_regs;
    uint8_t param_reg_count;     // registers that pass parameters; 0: pahole knows none
    bool aggregates_in_two_regs; // a parameter of two words takes two registers; if false, one
    bool reloc_pairs = false;    // debug sections have relocations that add and subtract
};

/// The row of a relocation type; nullptr: debug sections do not use this type.
const DebugReloc *find_reloc(const Arch &arch, uint32_t type);

/// Is `type` one of arch.debug_relocs, with RelocOp::set and a size? Also true for offsets of
/// thread-local variables, and for GOT-relative offsets.
bool is_absolute(const Arch &arch, uint32_t type);

/// The row of an architecture; nullptr: it is not supported.
const Arch *find_arch(uint16_t machine, uint8_t address_size);

} // namespace btflink
