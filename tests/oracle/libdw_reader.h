// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// emit/dwarf/die_tree.h's result, made by libdw.
#pragma once

#include "emit/dwarf/die_tree.h"
#include "tests/oracle/libdw_file.h"

namespace btflink::oracle
{

/// One tree per compile unit, in order.
Result<std::vector<emit::DieTree>> read_all_units(const LibdwFile &file, emit::Skips &skips);

} // namespace btflink::oracle
