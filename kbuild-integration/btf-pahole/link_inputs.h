// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds what a linked file was made of, where Kbuild leaves it. All knowledge of folders and file
// names of a kernel build is in this room.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// Whether the file is relocatable (a module, or an object), by its ELF header. Errors: it is no
/// ELF file, or cannot be read.
Result<bool> is_relocatable(const std::string &path);

/// Whether the file has a `.BTF` section with at least one object's BTF (a link trailer), as
/// opposed to final BTF or none. False where there is no such file.
Result<bool> has_object_btf(const std::string &path);

/// The objects of the vmlinux that `image` is a link of: vmlinux.o beside it and what the link
/// itself compiled, as far as they carry object BTF. Empty for other files.
Result<std::vector<std::string>> vmlinux_inputs(const std::string &image);

/// What a module was linked from, as Kbuild's saved command says (paths as they stand there, be
/// the files there or not: to leave one out would leave out its types), or, if there is none, the
/// objects of the module's name beside it that exist.
std::vector<std::string> module_inputs(const std::string &module);

} // namespace btflink::kbuild
