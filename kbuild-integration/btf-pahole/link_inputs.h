// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the files from which a linked file was made, where Kbuild leaves them.
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
/// Reads ELF headers. Errors: the file is not ELF, or cannot be read.
Result<LinkedFile> look_at_link(const std::string &path);

/// Is the file bitcode, which a compiler left for link-time optimisation? The linker reads bitcode
/// like an object, but it has neither code nor DWARF. False if the file cannot be read.
bool is_bitcode_file(const std::string &path);

/// Does the file have a `.BTF` section with a link trailer? Final BTF has none. False for bitcode,
/// and if the file does not exist.
Result<bool> has_object_btf(const std::string &path);

/// The objects from which `image`, a vmlinux, was linked, if they have object BTF: vmlinux.o in the
/// same folder, and the objects that the link itself compiled. Empty for other files.
Result<std::vector<std::string>> vmlinux_inputs(const std::string &image);

/// The files from which a module was linked, by Kbuild's saved command. Files that do not exist are
/// included, so that they cause an error. Without a saved command, the existing objects of the
/// module's name in the same folder.
std::vector<std::string> module_inputs(const std::string &module);

/// Why it is an error that a file has nothing to encode: it is a vmlinux, or Kbuild's saved
/// commands show that it was linked (if the file is `empty`), or that it was linked from files that
/// are gone or were compiled with -g (otherwise). "": it is not an error.
std::string why_btf_is_due(const std::string &file, bool empty);

} // namespace btflink::kbuild
