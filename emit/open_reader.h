// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the reader of a file: the fast one, unless the file needs libdw.
#pragma once

#include "emit/dwarf/dwarf_reader.h"

namespace btflink::emit
{

enum class ReaderChoice : uint8_t { automatic, fast, libdw };

struct ChosenReader {
    std::unique_ptr<DwarfReader> reader;
    const char *name = "fast";
    std::string why; // why libdw was chosen; "" if it was not chosen, or was requested
};

/// `file` must outlive the result, and have DWARF. `skips`: units that are left out.
Result<ChosenReader> open_reader(const DwarfFile &file, ReaderChoice choice,
                                 const std::string &debug_dir, Skips &skips);

} // namespace btflink::emit
