// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// One number for each entry of a file and what belongs to it, in the order in which they lie:
// offsets in .debug_info, behind them those in .debug_types, behind these those of the alternate
// file. A file of split DWARF is alone with its units, so it begins at 0 again.
#pragma once

#include "emit/dwarf/libdw/libdw_file.h"

namespace btflink::emit
{

class EntryNumbers
{
public:
    explicit EntryNumbers(const LibdwFile &file) : file_(file) {}

    /// 0: beyond 32 bits.
    uint32_t of(Dwarf_Die &die);

private:
    uint64_t base_of(Dwarf_CU *unit);

    const LibdwFile &file_;
    std::map<Dwarf_CU *, uint64_t> bases_;
    Dwarf_CU *last_ = nullptr; // asked for, and its base
    uint64_t last_base_ = 0;
};

} // namespace btflink::emit
