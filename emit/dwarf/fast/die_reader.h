// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the entries of one unit.
#pragma once

#include "emit/dwarf/fast/unit.h"

namespace btflink::emit
{

/// References of entries to type units.
struct TypeReferences {
    std::vector<const TypeUnit *> met;                // may contain duplicates
    std::unordered_map<uint32_t, uint32_t> stand_ins; // offset to that of the type; 0: unknown
};

/// Appends the entries to `tree`. The unit must have its abbreviations.
Result<void> read_entries(const Unit &unit, DieTree &tree, TypeReferences &types, Skips &skips);

} // namespace btflink::emit
