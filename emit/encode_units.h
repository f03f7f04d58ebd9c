// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads units and makes their object BTF.
#pragma once

#include "emit/choose_units.h"

namespace btflink::emit
{

/// The object BTF of one group. `reader` must read `file`.
Result<UnitObject> encode_units(const DwarfFile &file, const DwarfReader &reader, UnitGroup units,
                                const UnitOptions &options);

/// Object BTF by group, in the order of `groups`. With `options.take`, blobs are passed to this
/// function, and the results contain the rest.
Result<std::vector<UnitObject>> encode_groups(const DwarfFile &file, const DwarfReader &reader,
                                              const std::vector<UnitGroup> &groups,
                                              const EmitOptions &options);

} // namespace btflink::emit
