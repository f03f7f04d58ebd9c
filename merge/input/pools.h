// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds address pools in files. In a linked file pools contain addresses, in a relocatable file
// relocations.
#pragma once

#include "common/object_btf/address_pool.h"
#include "merge/input/elf_file.h"

#include <vector>

namespace btflink::merge
{

/// A section that may have pools; some of `parts` may belong to DWARF itself.
struct PoolSection {
    uint32_t section;
    SectionContents contents; // what `parts` point into
    std::vector<PoolPart> parts;
};
Result<std::vector<PoolSection>> pool_sections(const ElfFile &elf);

/// A place in an input, relative to its symbols and sections.
struct Place {
    enum Kind : uint8_t {
        none,    // unknown
        symbol,  // a symbol of the input plus addend
        named,   // an offset in the section that the DATASEC is named after
        address, // the lower 32 bits of a final address
    };
    Kind kind = none;
    uint32_t symbol_index = 0;
    int64_t addend = 0; // or the offset or address

    bool operator==(const Place &) const = default;
};

/// An address pool of a relocatable file, by entry.
struct PlacedPool {
    uint64_t object_id;
    std::vector<Place> places;
};

/// All address pools of a relocatable file, in section order.
Result<std::vector<PlacedPool>> placed_pools(const ElfFile &elf);

} // namespace btflink::merge
