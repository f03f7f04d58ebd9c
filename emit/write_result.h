// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes object BTF into an object, or into a file of its own.
#pragma once

#include "emit/dwarf/dwarf_file.h"
#include "emit/emit.h"

namespace btflink::emit
{

/// `kept`: object BTF that stays. `path`: of `file`. On an error nothing is written.
Result<void> write_result(const std::string &path, const DwarfFile &file, ExistingBtf kept,
                          std::vector<UnitObject> units, const EmitOptions &options,
                          EmitReport &report);

/// For a file without DWARF: removes the output of an earlier run.
Result<void> write_without_btf(const DwarfFile &file, const EmitOptions &options);

} // namespace btflink::emit
