// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-cc --build-plugin: compiles the gcc plugin for one compiler.
#pragma once

#include "common/result.h"

#include <string>

namespace btflink::kbuild
{

/// Builds the plugin for the compiler `program`, tests it on a small file, and puts it where
/// find_plugin() looks for it. Returns the plugin's path. On an error an older plugin stays.
Result<std::string> build_plugin(const std::string &program);

} // namespace btflink::kbuild
