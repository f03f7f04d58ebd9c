// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Environment variables, programs in $PATH, and paths.
#pragma once

#include "common/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

/// The value of an environment variable; "" if it is not set.
std::string variable(const char *name);

/// The value of an environment variable that is 1, 0 or empty. Any other value is an error.
Result<bool> switch_variable(const char *name);

/// Executable files called `name` in the folders of $PATH, in that order; if `name` has a slash,
/// that file alone. An empty part of $PATH is the current folder, as for shells.
std::vector<std::string> programs_named(const std::string &name);

/// The absolute path, without symbolic links, of the file that `path` names; "" if there is no such
/// file.
std::string resolved_path(const std::string &path);

/// The part after the last slash.
inline std::string_view base_name(std::string_view path)
{
    return path.substr(path.find_last_of('/') + 1); // npos + 1 is 0
}

} // namespace btflink::kbuild
