// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads one unit of a file and makes its object BTF.
#pragma once

#include "emit/dwarf/dwarf_reader.h"
#include "emit/unit/unit_object.h"

namespace btflink::emit
{

/// `units`: indices into reader.units(): one, or all units of a link-time optimised file. `reader`
/// must be of `file`.
Result<UnitObject> encode_unit(const DwarfFile &file, const DwarfReader &reader,
                               std::span<const uint32_t> units, const UnitOptions &options);

} // namespace btflink::emit
