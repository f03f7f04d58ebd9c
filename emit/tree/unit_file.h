// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the passes over a unit know of its file besides the unit's entries. Whoever reads the
// entries provides it: a reader of DWARF from an ELF file, the gcc plugin from the compiler.
#pragma once

#include "common/elf/arch.h"
#include "common/elf/elf_image.h"
#include "common/result.h"

#include <span>

namespace btflink::emit
{

struct UnitFile {
    const Arch &arch;
    ByteOrder order;
    bool relocatable;                     // an object: addresses are symbols, not numbers
    Where where;                          // of the entries; their offsets are counted from there
    std::span<const ElfSection> sections; // by the index that AddressRef has
};

} // namespace btflink::emit
