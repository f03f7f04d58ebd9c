// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Maps target triplets to ELF machines.
#include "emit/gcc/target_arch.h"

#include <elf.h>

namespace btflink::emit::gcc
{

namespace
{

struct Target {
    std::string_view prefix; // of the triplet
    unsigned pointer_bytes;  // 0: any size
    uint16_t machine;        // EM_*
};

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

// x86_64 with -m32 is i386, and i686 with -m64 is x86_64.
constexpr Target targets[] = {
    {"x86_64", 8, EM_X86_64}, {"x86_64", 4, EM_386},
    {"i386", 4, EM_386},      {"i486", 4, EM_386},
    {"i586", 4, EM_386},      {"i686", 4, EM_386},
    {"i686", 8, EM_X86_64},   {"aarch64", 8, EM_AARCH64},
    {"arm", 4, EM_ARM},       {"riscv", 0, EM_RISCV},
    {"s390", 0, EM_S390},     {"powerpc64", 8, EM_PPC64},
    {"mips", 0, EM_MIPS},     {"loongarch", 0, EM_LOONGARCH},
};

} // namespace

const Arch *target_arch(std::string_view target, unsigned pointer_bytes)
{
    for (const Target &t : targets)
        if (target.starts_with(t.prefix) &&
            (t.pointer_bytes == 0 || t.pointer_bytes == pointer_bytes))
            return find_arch(t.machine, static_cast<uint8_t>(pointer_bytes));
    return nullptr;
}

} // namespace btflink::emit::gcc
