// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes of btf-emit, in order, after a reader has been opened (dwarf/dwarf_reader.h).
#pragma once

#include "emit/emit.h"

#include <span>
#include <vector>

namespace btflink::emit
{

// encode_units.cc: chooses units, groups those that refer to each other, and encodes the groups.

/// Indices into DwarfReader::units().
using UnitGroup = std::span<const uint32_t>;

/// The units to encode: those that `options.filter` accepts and that `covered` does not cover (see
/// EmitOptions::covered). Counts the others in `skips`.
std::vector<uint32_t> choose_units(const DwarfReader &reader, const EmitOptions &options,
                                   const SourceCounts &covered, Skips &skips);

/// Divides `units` into groups. Usually each unit is a group of its own. If link-time optimisation
/// may have made units refer to each other, successive units of one file are a group; only split
/// DWARF has several files. The result points into `units`.
std::vector<UnitGroup> group_units(const DwarfFile &file, const DwarfReader &reader,
                                   const std::vector<uint32_t> &units);

/// Encodes the groups; the results are in the order of `groups`. If options.take is set, it gets
/// the BTF, and the results have everything else.
Result<std::vector<UnitObject>> encode_groups(const DwarfFile &file, const DwarfReader &reader,
                                              const std::vector<UnitGroup> &groups,
                                              const EmitOptions &options);

/// The object BTF of one group. `reader` must read `file`. encode_groups() calls this.
Result<UnitObject> encode_units(const DwarfFile &file, const DwarfReader &reader, UnitGroup units,
                                const UnitOptions &options);

// write_result.cc: writes what was encoded as the options say.

/// Writes the object BTF of `kept`, then that of `units`. If options.detached names a file, writes
/// only that of `units`, to that file; for one unit only the blob, unless options.image is set.
/// Writes nothing if options.take or options.dry_run is set. `path`: the path of `file`. If the
/// file is to be changed in place, but already has this object BTF, sets report.outcome to
/// `unchanged`. On an error nothing is written.
Result<void> write_result(const std::string &path, const DwarfFile &file, ExistingBtf kept,
                          std::vector<UnitObject> units, const EmitOptions &options,
                          EmitReport &report);

/// For a file without DWARF: makes options.output a copy of the file, and options.detached an empty
/// file, so that the output of an earlier run does not stay. Does nothing with options.dry_run.
Result<void> write_without_btf(const DwarfFile &file, const EmitOptions &options);

} // namespace btflink::emit
