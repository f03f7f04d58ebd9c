// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Numbers the entries of a file in order: offsets in .debug_info, then those in .debug_types, then
// those of the alternate file. Units of a file of split DWARF do not refer to other files, so their
// numbers begin at 0 again.
#pragma once

#include "emit/dwarf/libdw/libdw_file.h"

namespace btflink::emit
{

class EntryNumbers
{
public:
    explicit EntryNumbers(const LibdwFile &file) : file_(file) {}

    /// 0 if the number exceeds 32 bits.
    uint32_t of(Dwarf_Die &die);

private:
    uint64_t base_of(Dwarf_CU *unit);

    const LibdwFile &file_;
    std::map<Dwarf_CU *, uint64_t> bases_;
    Dwarf_CU *last_ = nullptr; // the unit of the last call, and its base
    uint64_t last_base_ = 0;
};

} // namespace btflink::emit
