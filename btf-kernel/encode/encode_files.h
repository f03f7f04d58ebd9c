// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Files of btf-kernel encode: copies of its input, and what earlier runs left in an output folder.
#pragma once

#include "common/io/file_io.h"
#include "common/result.h"
#include "kbuild-integration/btf-pahole/steps.h"

#include <filesystem>
#include <string>
#include <vector>

namespace btflink::kernel
{

/// The name of the file with the settings of the last run, in an output folder.
inline constexpr const char settings_name[] = "btf-kernel.settings";

/// A path by which this process and its forked children can open a file that is open already.
std::string path_of(int file);

/// A compressed file, unpacked into memory; null if `file` is not compressed. `where`: the file, as
/// errors of unpack() name it.
Result<kbuild::Scratch> unpacked(const std::string &file, const Where &where);

/// Writes the bytes to an unnamed file in `folder`, so that they do not occupy memory during the
/// encoding. `file`: gets the open file.
Result<void> spill(const std::string &folder, Bytes bytes, Fd &file);

/// The files with BTF of modules in an output folder, recognised by their names, such as x.ko.btf
/// or x.ko.xz.btf (role_of_encoded()). Skips links, subfolders that are output folders themselves,
/// and subfolders without read permission.
Result<std::vector<std::filesystem::path>> earlier_modules_in(const std::string &output);

} // namespace btflink::kernel
