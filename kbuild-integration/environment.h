// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Variables and programs in the environment of a build.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// "" if it is not set.
std::string variable(const char *name);

/// A variable that switches something on: 1, 0 or empty. Any other value is an error.
Result<bool> switch_variable(const char *name);

/// Paths of the files called `name` in $PATH that can be run, in that order; an empty part of $PATH
/// is the present folder, as for shells.
std::vector<std::string> programs_named(const std::string &name);

} // namespace btflink::kbuild
