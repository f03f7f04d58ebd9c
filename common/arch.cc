// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "common/arch.h"

#include <elf.h>

namespace btflink
{

namespace
{

// System V ABI, AMD64 supplement: table 4.9 (relocations), figure 3.36 (DWARF registers),
// section 3.2.3 (rdi, rsi, rdx, rcx, r8, r9).
constexpr AbsoluteReloc x86_64_relocs[] = {
    {R_X86_64_64, 8},       {R_X86_64_32, 4},       {R_X86_64_32S, 4},
    {R_X86_64_DTPOFF64, 8}, {R_X86_64_DTPOFF32, 4},
};
constexpr int8_t x86_64_params[] = {5, 4, 1, 2, 8, 9};

// ELF for the Arm 64-bit Architecture, table 4.5 (data relocations); AAPCS64: x0 to x7.
constexpr AbsoluteReloc aarch64_relocs[] = {
    {R_AARCH64_ABS64, 8},
    {R_AARCH64_ABS32, 4},
    {R_AARCH64_ABS16, 2},
    {R_AARCH64_TLS_DTPREL, 8},
};
constexpr int8_t aarch64_params[] = {0, 1, 2, 3, 4, 5, 6, 7};

constexpr Arch arches[] = {
    {"x86_64", EM_X86_64, 8, true, R_X86_64_NONE, R_X86_64_32S, R_X86_64_64, x86_64_relocs,
     x86_64_params, 6, true},
    {"arm64", EM_AARCH64, 8, true, R_AARCH64_NONE, R_AARCH64_ABS32, R_AARCH64_ABS64, aarch64_relocs,
     aarch64_params, 8, true},
};

} // namespace

const Arch *find_arch(uint16_t machine, uint8_t address_size)
{
    for (const Arch &arch : arches)
        if (arch.machine == machine && arch.address_size == address_size)
            return &arch;
    return nullptr;
}

} // namespace btflink
