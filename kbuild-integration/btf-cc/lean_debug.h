// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which options make a compiler write less debug information without changing code or BTF. For
// objects whose DWARF is dropped right after the compile.
#pragma once

#include "kbuild-integration/btf-cc/kbuild_plans.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

/// What a program's name says: gcc, x86_64-linux-gnu-gcc-12, g++, clang-19; `other` for cc, whose
/// options we do not know.
CompilerKind compiler_kind(std::string_view program);

/// The place of the compiler among the first `words` of a command, which may begin with programs
/// that run it (env, ccache, distcc). words.size(): not found.
size_t find_compiler(const std::vector<std::string> &words);

/// Options to put directly behind the compiler's name, where those of the command override them.
/// `configured`: the compiler of the kernel's configuration; a gcc that it does not name gets only
/// what every version takes. Empty: leave the command as it is.
std::vector<std::string> lean_debug_options(CompilerKind kind, const Compiler &configured);

} // namespace btflink::kbuild
