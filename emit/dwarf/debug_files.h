// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds separate files with debug information: all of a file's information, if the program was
// stripped, or the part that it shares with other files (dwz). The search is gdb's: by build id in
// a directory of debug files (`debug_dir`, usually /usr/lib/debug), and by the name in the file.
#pragma once

#include "emit/dwarf/dwarf_file.h"

#include <memory>
#include <string>

namespace btflink::emit
{

struct DebugFile {
    FileParts parts;
    std::unique_ptr<DwarfFile> file; // nullptr if there is none
};

/// The file with all debug information of `image`, by build id or by .gnu_debuglink.
Result<DebugFile> find_separate(const ElfImage &image, const std::string &debug_dir);

/// The file that .gnu_debugaltlink of `image` names. Error: it cannot be found.
Result<DebugFile> find_alternate(const ElfImage &image, const std::string &debug_dir);

} // namespace btflink::emit
