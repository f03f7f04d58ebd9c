// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Units as the fast reader knows them.
#pragma once

#include "emit/dwarf/dwarf_reader.h"
#include "emit/dwarf/fast/abbrev.h"

#include <memory>

namespace btflink::emit
{

/// A compile unit as its header and its first entry describe it.
struct Unit : UnitHead {
    uint64_t offset = 0;     // of the header, in .debug_info
    uint64_t die_offset = 0; // of the unit's own DIE
    uint64_t end = 0;
    UnitWidths widths;
    std::shared_ptr<const AbbrevTable> abbrevs;
    uint64_t str_offsets_base = 0, addr_base = 0, loclists_base = 0;
    bool clang = false;

    /// Entry `index` of the unit's part of .debug_addr.
    std::optional<AddressRef> indexed_address(const DwarfFile &file, uint64_t index) const;
};

/// All compile units of the file in order; others are counted in `skips`.
Result<std::vector<Unit>> list_units(const DwarfFile &file, Skips &skips);

/// Read one unit, or several as if they were one (link-time optimisation: they refer to each
/// other).
Result<DieTree> read_units(const DwarfFile &file, std::span<const Unit *const> units, Skips &skips);

} // namespace btflink::emit
