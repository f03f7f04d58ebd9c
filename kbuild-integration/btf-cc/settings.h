// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The settings of btf-cc, from its options and the environment. README.md has the list for users.
#pragma once

#include "emit/emit.h"

#include <string>
#include <utility>
#include <vector>

namespace btflink::kbuild
{

struct Settings {
    emit::EmitOptions emit;  // for an object of a kernel build
    bool plugin = false;     // BTF_CC_PLUGIN: see plugin_compile.h
    bool lean_debug = false; // BTF_CC_LEAN_DEBUG: see lean_debug.h
    bool strict = false;     // BTF_CC_STRICT: a failed emission fails the compile
    bool quiet = false;      // BTF_CC_QUIET: no warnings
    bool verbose = false;    // BTF_CC_VERBOSE: say what was done, or why nothing was
};

/// From `options` ("--plugin", "--strip-dwarf", "--lean-debug", "--strict", "--verbose",
/// "--features=LIST": given before the compiler's name, they are part of the command that Kbuild
/// saves, so that objects are made anew when they change), from BTF_CC_PLUGIN, BTF_CC_STRIP_DWARF,
/// BTF_CC_LEAN_DEBUG, BTF_CC_STRICT, BTF_CC_QUIET, BTF_CC_VERBOSE, BTF_CC_FEATURES, and, where none
/// names features, from PAHOLE_FLAGS, which Kbuild exports. DWARF that Kbuild will read later
/// stays. Errors: what cannot be understood.
Result<Settings> read_settings(const std::vector<std::string> &options);

/// The variable and the value that mean the same as an option that read_settings() accepted.
std::pair<std::string, std::string> variable_of(const std::string &option);

/// One line that differs if objects made by the same program and compiler would: see cache_key().
std::string describe(const Settings &settings);

} // namespace btflink::kbuild
