// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes of btf-emit over a file whose reader is open (dwarf/dwarf_reader.h), in order.
#pragma once

#include "emit/emit.h"

#include <span>
#include <vector>

namespace btflink::emit
{

// encode_units.cc: chooses units, puts those together that refer to each other, and encodes them.

/// Indices into DwarfReader::units().
using UnitGroup = std::span<const uint32_t>;

/// The units to encode: those that `options.filter` accepts and `covered` lacks. `skips`: counts
/// the others.
std::vector<uint32_t> choose_units(const DwarfReader &reader, const EmitOptions &options,
                                   const SourceCounts &covered, Skips &skips);

/// A group per unit. If link-time optimisation makes units refer to each other, one group with all
/// units, or, with split DWARF, one for each file. The result refers to `units`.
std::vector<UnitGroup> group_units(const DwarfFile &file, const DwarfReader &reader,
                                   const std::vector<uint32_t> &units);

/// Object BTF by group, in the order of `groups`. If there is an options.take(), blobs are passed
/// to it, and the results contain the rest.
Result<std::vector<UnitObject>> encode_groups(const DwarfFile &file, const DwarfReader &reader,
                                              const std::vector<UnitGroup> &groups,
                                              const EmitOptions &options);

/// The object BTF of one group. `reader` must read `file`. encode_groups() calls it.
Result<UnitObject> encode_units(const DwarfFile &file, const DwarfReader &reader, UnitGroup units,
                                const UnitOptions &options);

// write_result.cc: writes what was encoded as the options say.

/// `kept`: object BTF that stays. `path`: of `file`. On an error nothing is written.
Result<void> write_result(const std::string &path, const DwarfFile &file, ExistingBtf kept,
                          std::vector<UnitObject> units, const EmitOptions &options,
                          EmitReport &report);

/// For a file without DWARF: removes the output of an earlier run.
Result<void> write_without_btf(const DwarfFile &file, const EmitOptions &options);

} // namespace btflink::emit
