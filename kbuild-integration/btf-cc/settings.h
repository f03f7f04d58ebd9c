// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The settings of btf-cc, from its options and the environment. btf-cc(1) has the list for users.
#pragma once

#include "emit/emit.h"

#include <string>
#include <utility>
#include <vector>

namespace btflink::kbuild
{

struct Settings {
    emit::EmitOptions emit; // for an object of a kernel build
    bool plugin = false;    // BTF_CC_PLUGIN: see plugin_compile.h
    bool strict = false;    // BTF_CC_STRICT: a failed emission fails the compile
    bool quiet = false;     // BTF_CC_QUIET: no warnings
    bool verbose = false;   // BTF_CC_VERBOSE: say what was done, or why nothing was
};

/// `options`: those before the compiler's name ("--strip-dwarf", "--features=LIST"). They are part
/// of the command that Kbuild saves, so a change recompiles objects. Each option also has a
/// variable (BTF_CC_STRIP_DWARF, BTF_CC_FEATURES). Without features in either, those in
/// $PAHOLE_FLAGS are used, which Kbuild exports. strip_dwarf is turned off if Kbuild reads the
/// DWARF later. Errors: an invalid option or variable.
Result<Settings> read_settings(const std::vector<std::string> &options);

/// The variable and value equivalent to an option that read_settings() accepted.
std::pair<std::string, std::string> variable_of(const std::string &option);

/// One line with all settings on which objects depend: see cache_key().
std::string describe(const Settings &settings);

} // namespace btflink::kbuild
