// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The contents of a debug section together with the relocations that apply to it. Nothing is
// relocated in place: values are relocated as they are read, and most are never read.
#pragma once

#include "common/elf/reloc_table.h"

#include <string>
#include <vector>

namespace btflink::emit
{

struct DebugSection {
    std::string_view name; // ".debug_info", also where the file says .zdebug_info
    Bytes data;
    std::vector<std::byte> own; // decompressed contents
    RelocTable relocs;          // empty in linked files
    bool rela = true;
    bool grouped = false; // of a section group

    bool present() const { return !data.empty(); }
};

} // namespace btflink::emit
