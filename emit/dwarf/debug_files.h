// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Files that have the debug information of another one: all of it, where a program was stripped, or
// what it shares with others (dwz). They are looked for where gdb does: under a directory of all
// debug files (`debug_dir`, as a rule /usr/lib/debug) by build id, and by the name that the other
// file gives.
#pragma once

#include "emit/dwarf/dwarf_file.h"

#include <memory>
#include <string>

namespace btflink::emit
{

struct DebugFile {
    FileParts parts;
    std::unique_ptr<DwarfFile> file; // nullptr: none is there
};

/// All debug information of `image`, which has none itself: by its build id, else by
/// .gnu_debuglink. No file, if there is none.
Result<DebugFile> find_separate(const ElfImage &image, const std::string &debug_dir);

/// The file that .gnu_debugaltlink of `image` names. An error if it cannot be found.
Result<DebugFile> find_alternate(const ElfImage &image, const std::string &debug_dir);

} // namespace btflink::emit
