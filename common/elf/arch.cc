// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The table of architectures: relocation types, and registers that pass parameters.
#include "common/elf/arch.h"

#include <algorithm>
#include <elf.h>

namespace btflink
{

namespace
{

// System V ABI, AMD64 supplement: table 4.9 (relocations), figure 3.36 (DWARF registers),
// section 3.2.3 (rdi, rsi, rdx, rcx, r8, r9).
constexpr DebugReloc x86_64_relocs[] = {
    {R_X86_64_64, 8},       {R_X86_64_32, 4},       {R_X86_64_32S, 4},
    {R_X86_64_DTPOFF64, 8}, {R_X86_64_DTPOFF32, 4},
};
constexpr int8_t x86_64_params[] = {5, 4, 1, 2, 8, 9};

// ELF for the Arm 64-bit Architecture, "Data relocations" and (DTPREL) "TLS data relocations";
// AAPCS64: x0 to x7.
constexpr DebugReloc aarch64_relocs[] = {
    {R_AARCH64_ABS64, 8},
    {R_AARCH64_ABS32, 4},
    {R_AARCH64_ABS16, 2},
    {R_AARCH64_TLS_DTPREL, 8},
};
constexpr int8_t aarch64_params[] = {0, 1, 2, 3, 4, 5, 6, 7};

// System V ABI, Intel386 supplement: "Relocation Types". By this ABI, all parameters are on the
// stack, but kernels pass the first three in registers (-mregparm=3). pahole knows nothing of
// i386's registers.
// R_386_GOTOFF (-fPIC) is listed only so that it is not an error: it occurs in DWARF expressions
// with further operations, from which no address is taken.
constexpr DebugReloc i386_relocs[] = {{R_386_32, 4}, {R_386_TLS_LDO_32, 4}, {R_386_GOTOFF, 4}};

// ELF for the Arm Architecture, table 4.9. Only r0 to r3 pass parameters, but pahole expects the
// same registers as for arm64.
constexpr DebugReloc arm_relocs[] = {{R_ARM_ABS32, 4}, {R_ARM_TLS_LDO32, 4}};
constexpr std::span<const int8_t> arm_params = aarch64_params;

// RISC-V ELF psABI, table "Relocation types"; some <elf.h> lack two of these types. pahole knows
// only the number of parameter registers (a0 to a7).
constexpr uint32_t riscv_set_uleb128 = 60, riscv_sub_uleb128 = 61;
constexpr DebugReloc riscv_relocs[] = {
    {R_RISCV_32, 4},
    {R_RISCV_64, 8},
    {R_RISCV_TLS_DTPREL32, 4},
    {R_RISCV_TLS_DTPREL64, 8},
    {R_RISCV_ADD16, 2, RelocOp::add},
    {R_RISCV_ADD32, 4, RelocOp::add},
    {R_RISCV_ADD64, 8, RelocOp::add},
    {R_RISCV_SUB16, 2, RelocOp::subtract},
    {R_RISCV_SUB32, 4, RelocOp::subtract},
    {R_RISCV_SUB64, 8, RelocOp::subtract},
    {riscv_set_uleb128, 0},
    {riscv_sub_uleb128, 0, RelocOp::subtract},
};

// ELF ABI s390x supplement: sections "Relocation Types" and "Parameter Passing" (r2 to r6).
constexpr DebugReloc s390_relocs[] = {{R_390_32, 4}, {R_390_64, 8}, {R_390_TLS_LDO64, 8}};
constexpr int8_t s390_params[] = {2, 3, 4, 5, 6};

// OpenPOWER ELF V2 ABI, "Relocation Table". pahole knows only the number of parameter registers
// (r3 to r10).
constexpr DebugReloc powerpc64_relocs[] = {
    {R_PPC64_ADDR32, 4},  {R_PPC64_ADDR64, 8},   {R_PPC64_UADDR32, 4},
    {R_PPC64_UADDR64, 8}, {R_PPC64_DTPREL64, 8},
};

// The next four tables are from the supplements of the System V ABI for PowerPC, SPARC and 68000,
// and from Alpha's assembler. Of PowerPC and SPARC, pahole knows only the number of parameter
// registers; of the others, nothing.
constexpr DebugReloc powerpc_relocs[] = {
    {R_PPC_ADDR32, 4}, {R_PPC_UADDR32, 4}, {R_PPC_DTPREL32, 4}};

// SPARC: types without UA need an aligned place. We write those with UA, which fit any place.
constexpr DebugReloc sparc_relocs[] = {
    {R_SPARC_32, 4},   {R_SPARC_64, 8},           {R_SPARC_UA32, 4},
    {R_SPARC_UA64, 8}, {R_SPARC_TLS_DTPOFF32, 4}, {R_SPARC_TLS_DTPOFF64, 8},
};

constexpr DebugReloc m68k_relocs[] = {{R_68K_32, 4}, {R_68K_TLS_LDO32, 4}};

constexpr DebugReloc alpha_relocs[] = {
    {R_ALPHA_REFLONG, 4}, {R_ALPHA_REFQUAD, 8}, {R_ALPHA_DTPREL64, 8}};

// System V ABI, MIPS supplement, and the 64-bit ELF Object File Specification: relocation types.
// pahole knows only the number of n64's parameter registers ($4 to $11), and uses it for o32, too.
constexpr DebugReloc mips_relocs[] = {{R_MIPS_32, 4}, {R_MIPS_TLS_DTPREL32, 4}};
constexpr DebugReloc mips64_relocs[] = {
    {R_MIPS_64, 8},
    {R_MIPS_32, 4},
    {R_MIPS_TLS_DTPREL64, 8},
    {R_MIPS_TLS_DTPREL32, 4},
};

// ELF for the LoongArch Architecture: relocation types; some <elf.h> lack two of them. pahole knows
// nothing about LoongArch's registers.
constexpr uint32_t larch_add_uleb128 = 107, larch_sub_uleb128 = 108;
constexpr DebugReloc loongarch64_relocs[] = {
    {R_LARCH_64, 8},
    {R_LARCH_32, 4},
    {R_LARCH_TLS_DTPREL64, 8},
    {R_LARCH_TLS_DTPREL32, 4},
    {R_LARCH_ADD16, 2, RelocOp::add},
    {R_LARCH_ADD32, 4, RelocOp::add},
    {R_LARCH_ADD64, 8, RelocOp::add},
    {R_LARCH_SUB16, 2, RelocOp::subtract},
    {R_LARCH_SUB32, 4, RelocOp::subtract},
    {R_LARCH_SUB64, 8, RelocOp::subtract},
    {larch_add_uleb128, 0, RelocOp::add},
    {larch_sub_uleb128, 0, RelocOp::subtract},
};

constexpr std::span<const int8_t> any_register;

constexpr Arch arches[] = {
    {"x86_64", EM_X86_64, 8, true, R_X86_64_NONE, R_X86_64_32S, R_X86_64_64, x86_64_relocs,
     x86_64_params, 6, true},
    {"arm64", EM_AARCH64, 8, true, R_AARCH64_NONE, R_AARCH64_ABS32, R_AARCH64_ABS64, aarch64_relocs,
     aarch64_params, 8, true},
    {"i386", EM_386, 4, false, R_386_NONE, R_386_32, R_386_32, i386_relocs, any_register, 0, true},
    {"arm", EM_ARM, 4, false, R_ARM_NONE, R_ARM_ABS32, R_ARM_ABS32, arm_relocs, arm_params, 8,
     true},
    {"riscv", EM_RISCV, 8, true, R_RISCV_NONE, R_RISCV_32, R_RISCV_64, riscv_relocs, any_register,
     8, true, true},
    {"riscv", EM_RISCV, 4, true, R_RISCV_NONE, R_RISCV_32, R_RISCV_32, riscv_relocs, any_register,
     8, true, true},
    {"s390", EM_S390, 8, true, R_390_NONE, R_390_32, R_390_64, s390_relocs, s390_params, 5, false},
    {"powerpc", EM_PPC64, 8, true, R_PPC64_NONE, R_PPC64_ADDR32, R_PPC64_ADDR64, powerpc64_relocs,
     any_register, 8, true},
    {"powerpc", EM_PPC, 4, true, R_PPC_NONE, R_PPC_ADDR32, R_PPC_ADDR32, powerpc_relocs,
     any_register, 8, true},
    {"sparc", EM_SPARC, 4, true, R_SPARC_NONE, R_SPARC_UA32, R_SPARC_UA32, sparc_relocs,
     any_register, 6, true},
    {"sparc", EM_SPARCV9, 8, true, R_SPARC_NONE, R_SPARC_UA32, R_SPARC_UA64, sparc_relocs,
     any_register, 6, true},
    {"m68k", EM_68K, 4, true, R_68K_NONE, R_68K_32, R_68K_32, m68k_relocs, any_register, 0, true},
    {"alpha", EM_ALPHA, 8, true, R_ALPHA_NONE, R_ALPHA_REFLONG, R_ALPHA_REFQUAD, alpha_relocs,
     any_register, 0, true},
    {"mips", EM_MIPS, 4, false, R_MIPS_NONE, R_MIPS_32, R_MIPS_32, mips_relocs, any_register, 8,
     true},
    {"mips", EM_MIPS, 8, true, R_MIPS_NONE, R_MIPS_32, R_MIPS_64, mips64_relocs, any_register, 8,
     true},
    {"loongarch", EM_LOONGARCH, 8, true, R_LARCH_NONE, R_LARCH_32, R_LARCH_64, loongarch64_relocs,
     any_register, 0, true, true},
};

} // namespace

const DebugReloc *find_reloc(const Arch &arch, uint32_t type)
{
    const auto found = std::ranges::find(arch.debug_relocs, type, &DebugReloc::type);
    return found == arch.debug_relocs.end() ? nullptr : &*found;
}

bool is_absolute(const Arch &arch, uint32_t type)
{
    const DebugReloc *known = find_reloc(arch, type);
    return known && known->op == RelocOp::set && known->size;
}

const Arch *find_arch(uint16_t machine, uint8_t address_size)
{
    for (const Arch &arch : arches)
        if (arch.machine == machine && arch.address_size == address_size)
            return &arch;
    return nullptr;
}

} // namespace btflink
