// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the environment tells btf-cc. README.md has the list for users.
#pragma once

#include "emit/emit.h"

#include <string>

namespace btflink::kbuild
{

struct Settings {
    emit::EmitOptions emit; // for an object of a kernel build
    bool strict = false;    // BTF_CC_STRICT: a failed emission fails the compile
    bool verbose = false;   // BTF_CC_VERBOSE: say what was done, or why nothing was
};

/// From BTF_CC_STRICT, BTF_CC_STRIP_DWARF, BTF_CC_VERBOSE, BTF_CC_FEATURES and, where that is not
/// set, PAHOLE_FLAGS, which Kbuild exports. Errors: a value that cannot be understood.
Result<Settings> read_settings();

/// One line that differs if objects, of the same program and compiler, would: see cache_key().
std::string describe(const Settings &settings);

} // namespace btflink::kbuild
