// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Where a function's parameter is when the function is entered, as far as its DW_AT_location tells.
#pragma once

#include "common/arch.h"
#include "emit/dwarf_file.h"

#include <cstdint>
#include <optional>

namespace btflink::emit
{

struct ParamLocation {
    static constexpr int unknown_reg = -1;

    bool present = false;  // there is a DW_AT_location
    int reg = unknown_reg; // DWARF number of the register that holds it on entry
};

/// `attr`: DW_AT_location of a parameter of `type_size` bytes (0: not known).
ParamLocation decode_param_location(Dwarf_Attribute &attr, const Arch &arch, uint64_t type_size);

} // namespace btflink::emit
