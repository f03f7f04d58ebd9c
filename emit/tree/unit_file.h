// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the passes over a unit need to know about its file, in addition to the entries. A DWARF
// reader takes it from the ELF file, the gcc plugin from the compiler.
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
    Where where;                          // to which offsets of entries are added
    std::span<const ElfSection> sections; // AddressRef has indices into these
};

} // namespace btflink::emit
