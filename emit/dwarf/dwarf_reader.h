// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The interface of a DWARF reader: a file's compile units, and the entries of chosen ones. There
// are two: fast/ for what compilers write for the kernel, libdw/ for everything else.
#pragma once

#include "emit/dwarf/dwarf_file.h"
#include "emit/tree/die_tree.h"

#include <memory>
#include <span>

namespace btflink::emit
{

/// A compile unit as its own entry describes it.
struct UnitHead {
    const char *name = nullptr;
    uint16_t language = 0;            // DW_LANG_*
    bool reads_foreign_units = false; // its entries may refer to other compile units'
    Bytes entries;                    // where they are, if it is known
    const void *file = nullptr;       // that they are in: units refer to none of another file
};

class DwarfReader
{
public:
    DwarfReader() = default;
    DwarfReader(const DwarfReader &) = delete;
    DwarfReader &operator=(const DwarfReader &) = delete;
    virtual ~DwarfReader() = default;

    /// All compile units that can be read, in order.
    const std::vector<UnitHead> &units() const { return heads_; }

    /// Read one unit, or several as if they were one (link-time optimisation: they refer to each
    /// other). `units`: indices, ascending. Strings of the result live as long as the reader. May
    /// be called by several threads.
    virtual Result<DieTree> read(std::span<const uint32_t> units, Skips &skips) const = 0;

protected:
    std::vector<UnitHead> heads_;
};

} // namespace btflink::emit
