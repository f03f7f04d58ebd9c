// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the entries of one unit with libdw.
#pragma once

#include "emit/dwarf/dwarf_file.h"
#include "emit/dwarf/libdw/libdw_file.h"
#include "emit/tree/die_tree.h"

#include <functional>

namespace btflink::emit
{

struct LibdwUnit {
    Dwarf_Die die{};
    uint64_t addr_base = 0; // of its part of .debug_addr
};

/// Appends the entries of `unit` to `tree`. `meets` is called for each entry of another unit that
/// this unit refers to or imports.
Result<void> read_entries(LibdwFile &file, LibdwUnit unit,
                          const std::function<void(Dwarf_Die &)> &meets, DieTree &tree,
                          Skips &skips);

} // namespace btflink::emit
