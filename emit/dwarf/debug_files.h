// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds files that hold the debug information of another file: all of it, if a program was
// stripped, or what it shares with others (dwz). They are searched for as gdb does: by build id in
// a directory of debug files (`debug_dir`, usually /usr/lib/debug), and by the name that the other
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
