// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds what a linked file was made of, where Kbuild leaves it. All knowledge of folders and file
// names of a kernel build is in this room.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

struct LinkedFile {
    bool relocatable = false; // a module, or an object
    bool has_symbols = false;
};
/// By its ELF headers. Errors: it is no ELF file, or cannot be read.
Result<LinkedFile> look_at_link(const std::string &path);

/// Whether a compiler left it for link-time optimisation: a link reads it like an object, but it
/// has neither code nor DWARF. False if it cannot be read.
bool is_bitcode_file(const std::string &path);

/// Whether the file has a `.BTF` section with at least one object's BTF (a link trailer), as
/// opposed to final BTF or none. False for bitcode, and where there is no such file.
Result<bool> has_object_btf(const std::string &path);

/// The objects from which `image`, a vmlinux, was linked: vmlinux.o in the same folder and what the
/// link itself compiled, if they have object BTF. Empty for other files.
Result<std::vector<std::string>> vmlinux_inputs(const std::string &image);

/// The files that a module was linked from, as in Kbuild's saved command. The paths are returned
/// even if the files do not exist: to leave one out would leave out its types. Without a saved
/// command, the existing objects of the module's name in the same folder.
std::vector<std::string> module_inputs(const std::string &module);

/// Why a file in which nothing is found to encode must be damaged, or made by mistake: it is a
/// vmlinux, or a module and Kbuild's saved commands say that it was linked (`empty`), or linked of
/// files that are gone or that were compiled with -g (otherwise). "": it may well have nothing.
std::string why_not_without_types(const std::string &file, bool empty);

} // namespace btflink::kbuild
