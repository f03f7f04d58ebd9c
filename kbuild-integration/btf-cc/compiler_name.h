// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Recognises compilers by their names, without running them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

enum class CompilerKind { other, gcc, clang };

/// The kind of a compiler by its name: gcc, x86_64-linux-gnu-gcc-12, g++, clang-19; `other` for cc,
/// which may be any compiler.
CompilerKind compiler_kind(std::string_view program);

/// The index of the compiler among the `words` of a command, which may begin with programs that run
/// compilers (env, ccache, distcc). words.size() if not found.
size_t find_compiler(const std::vector<std::string> &words);

} // namespace btflink::kbuild
