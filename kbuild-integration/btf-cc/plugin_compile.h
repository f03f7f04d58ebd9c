// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-cc --plugin: which compiles gcc's plugin makes object BTF for, and by which options.
#pragma once

#include "kbuild-integration/btf-cc/compile_command.h"
#include "kbuild-integration/btf-cc/settings.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// Why this object gets its BTF from DWARF although plugins are asked for; empty: it gets it from
/// the plugin. Depends on the command and the configuration alone, not on which plugins are there.
/// `words`: the whole command.
std::string why_not_by_plugin(const std::vector<std::string> &words, const CompileCommand &command,
                              const Settings &settings);

/// `words` with what makes the compiler load the plugin. Errors: no plugin fits it.
Result<std::vector<std::string>> with_plugin(std::vector<std::string> words,
                                             const Settings &settings);

} // namespace btflink::kbuild
