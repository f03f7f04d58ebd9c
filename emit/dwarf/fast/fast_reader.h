// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Our own reader: what gcc and clang write for the kernel, in one file or split, twice as fast
// as by libdw and more. Units of other kinds (type, partial) it counts and leaves out.
#pragma once

#include "emit/dwarf/dwarf_reader.h"

namespace btflink::emit
{

/// `file` must outlive the result. `skips`: units that are left out.
Result<std::unique_ptr<DwarfReader>> open_fast_reader(const DwarfFile &file, Skips &skips);

} // namespace btflink::emit
