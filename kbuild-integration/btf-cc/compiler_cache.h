// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// ccache caches the output of the command that it runs. To cache objects with their BTF, ccache
// must run btf-cc, and its key must include the settings of btf-cc (docs/caches.md).
#pragma once

#include "kbuild-integration/btf-cc/settings.h"

namespace btflink::kbuild
{

/// A line for ccache's `compiler_check`: `settings`, a hash of this executable, and, unless
/// `compiler` is empty, the size and time of the compiler's file, which ccache uses by default.
/// Error: the compiler does not exist.
Result<std::string> cache_key(const Settings &settings, const std::string &compiler);

/// Base names of the programs that $CCACHE_PREFIX tells ccache to run around the compiler.
std::vector<std::string> ccache_prefix();

/// If `program` (a path, or a name to look up in PATH) is ccache or a link to it: sets ccache's
/// variables so that ccache runs this executable around the compiler and asks it for the key.
/// `options` are passed on as variables, because ccache's prefix takes no options. Returns true if
/// the caller must run `program` and do nothing after it.
bool get_behind_cache(const std::string &program, const std::vector<std::string> &options);

} // namespace btflink::kbuild
