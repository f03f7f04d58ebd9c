// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The entries of one unit.
#pragma once

#include "emit/dwarf/fast/unit.h"

namespace btflink::emit
{

/// What the entries of some units refer to in type units.
struct TypeReferences {
    std::vector<const TypeUnit *> met;                // perhaps several times
    std::unordered_map<uint32_t, uint32_t> stand_ins; // offset of one to that of the type, 0: none
};

/// Put the entries into `tree`, behind those that are there. The unit must have its abbreviations.
Result<void> read_entries(const Unit &unit, DieTree &tree, TypeReferences &types, Skips &skips);

} // namespace btflink::emit
