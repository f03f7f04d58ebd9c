// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Options that make a compiler write less debug information without changing code or BTF, for
// objects whose DWARF is dropped right after the compile.
#pragma once

#include "kbuild-integration/btf-cc/kbuild_plans.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

/// The kind of a compiler by its name: gcc, x86_64-linux-gnu-gcc-12, g++, clang-19; `other` for cc,
/// which may be any compiler.
CompilerKind compiler_kind(std::string_view program);

/// The index of the compiler among the `words` of a command, which may begin with programs that run
/// compilers (env, ccache, distcc). words.size(): not found.
size_t find_compiler(const std::vector<std::string> &words);

/// Options to put directly behind the compiler's name, where the command's own options override
/// them; may be empty. `configured`: the compiler of the kernel's configuration. If that is no gcc,
/// only options that every gcc knows are returned.
std::vector<std::string> lean_debug_options(CompilerKind kind, const Compiler &configured);

} // namespace btflink::kbuild
