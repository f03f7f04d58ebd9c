// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A debug section with the relocations that apply to it. A value is relocated when it is read; most
// values never are.
#pragma once

#include "common/elf/reloc_table.h"

#include <string>
#include <vector>

namespace btflink::emit
{

struct DebugSection {
    std::string_view name; // ".debug_info", even if the file has .zdebug_info
    Bytes data;
    std::vector<std::byte> own; // decompressed contents
    RelocTable relocs;          // empty in linked files
    bool rela = true;
    bool grouped = false; // in a section group

    bool present() const { return !data.empty(); }
};

} // namespace btflink::emit
