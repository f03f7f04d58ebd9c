// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Our own reader, for what gcc and clang write for kernels, including split DWARF. It is more than
// twice as fast as libdw. Type units and partial units are skipped and counted.
#pragma once

#include "emit/dwarf/dwarf_reader.h"

namespace btflink::emit
{

/// `file` must outlive the result. `skips`: units that are left out.
Result<std::unique_ptr<DwarfReader>> open_fast_reader(const DwarfFile &file, Skips &skips);

} // namespace btflink::emit
