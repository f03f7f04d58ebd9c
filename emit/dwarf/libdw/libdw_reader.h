// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The general reader, for all DWARF that libdw can read, including type units, partial units and
// alternate files (dwz). It is slower than fast/, and decodes independently of it; if both can read
// a file, their trees are the same.
#pragma once

#include "emit/dwarf/dwarf_reader.h"

namespace btflink::emit
{

/// `file` must outlive the result. `debug_dir`: see debug_files.h. `skips`: units that are left
/// out.
Result<std::unique_ptr<DwarfReader>> open_libdw_reader(const DwarfFile &file,
                                                       const std::string &debug_dir, Skips &skips);

} // namespace btflink::emit
