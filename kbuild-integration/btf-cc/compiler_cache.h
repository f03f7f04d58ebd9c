// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// ccache caches what the command behind it made. To cache objects with their BTF, btf-cc has to run
// behind ccache, and its settings have to be part of ccache's key (docs/caches.md).
#pragma once

#include "kbuild-integration/btf-cc/settings.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// One line on standard output for ccache's `compiler_check`: `settings`, the program that would
/// apply them (a hash of this executable), and, unless `compiler` is empty, which compiler that is:
/// size and time of its file, as ccache takes them when nothing else is said. Errors: no such
/// compiler.
Result<std::string> cache_key(const Settings &settings, const std::string &compiler);

/// If `program` (a path, or a name to look up in PATH) is ccache or a link to it: prepare the
/// environment so that ccache runs this executable around the compiler, with the same `options` (by
/// their variables, for ccache's prefix takes none), and asks it for the key. True if so, and
/// `program` is then to be run with nothing done after it.
bool get_behind_cache(const std::string &program, const std::vector<std::string> &options);

} // namespace btflink::kbuild
