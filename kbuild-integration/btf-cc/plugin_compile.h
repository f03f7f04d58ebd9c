// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-cc --plugin: selects the compiles in which the gcc plugin makes object BTF, and their
// options.
#pragma once

#include "kbuild-integration/btf-cc/compile_command.h"
#include "kbuild-integration/btf-cc/settings.h"

namespace btflink::kbuild
{

/// Why this object gets its BTF from DWARF in spite of --plugin; empty if the plugin makes the BTF.
/// Depends on the command and the kernel's configuration, not on the installed plugins. `words`:
/// the whole command.
std::string why_not_by_plugin(const std::vector<std::string> &words, const CompileCommand &command,
                              const Settings &settings);

/// `words` with the options that make the compiler load the plugin. Error: no plugin matches it.
Result<std::vector<std::string>> with_plugin(std::vector<std::string> words,
                                             const Settings &settings);

} // namespace btflink::kbuild
