// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the units of a file to encode, and those to encode together.
#pragma once

#include "emit/dwarf/dwarf_reader.h"
#include "emit/emit.h"

#include <span>
#include <vector>

namespace btflink::emit
{

/// Indices into DwarfReader::units().
using UnitGroup = std::span<const uint32_t>;

/// The units to encode: those that `options.filter` accepts and `covered` lacks. `skips`: counts
/// the others.
std::vector<uint32_t> choose_units(const DwarfReader &reader, const EmitOptions &options,
                                   const SourceCounts &covered, Skips &skips);

/// A group per unit. If link-time optimisation makes units refer to each other, all units are one
/// group, or, with split DWARF, those of each file. The result refers to `units`.
std::vector<UnitGroup> group_units(const DwarfFile &file, const DwarfReader &reader,
                                   const std::vector<uint32_t> &units);

} // namespace btflink::emit
