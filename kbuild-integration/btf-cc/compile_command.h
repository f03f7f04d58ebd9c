// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads a compiler's command line: which object files does the command make, and which of these may
// get object BTF? Understands those options of gcc and clang that matter for this. Recognises
// compilers by their names, without running them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kbuild
{

struct CompileCommand {
    /// Object files that the command writes and that may get object BTF. Empty for a link, a
    /// preprocessing step or a probe.
    std::vector<std::string> objects;
    /// "OBJECT: why it is not changed", for --verbose; or why a response file cannot be read, so
    /// that the objects are unknown. Empty if there are `objects`, if the command makes no
    /// object, or if it is a probe.
    std::string left_alone;
    /// The text of why_no_btf_at_all() (steps.h), which btf-cc.cc adds. Usually empty.
    std::string warning = {};
    bool is_module = false; // -DMODULE
    /// -g or the like. False if any source is an assembler file (.S, .s, -x assembler), because its
    /// DWARF describes no types.
    bool asks_for_dwarf = false;
    /// All sources are C by their suffixes or -x. (But g++ takes .c files for C++.)
    bool only_c = false;
    /// The object has code for link-time optimisation only.
    bool slim_lto = false;
    /// The words of a response file, and so perhaps the objects, depend on the compiler's version:
    /// the command may write only some of `objects`.
    bool depends_on_version = false;

    bool operator==(const CompileCommand &) const = default;
};

/// `arguments`: without the compiler's name. "@FILE" is read twice, by WordRules::gcc_14 and by
/// gcc_15, because the compiler's version is unknown. If unfold_response_files() fails, the result
/// has no objects.
CompileCommand read_compile_command(const std::vector<std::string> &arguments);

/// A compiler's name without folder, target and version: "x86_64-linux-gnu-gcc-12" -> "gcc".
std::string_view bare_name(std::string_view program);

enum class CompilerKind { other, gcc, clang };

/// The kind of a compiler by its name: gcc, x86_64-linux-gnu-gcc-12, g++, clang-19; `other` for cc,
/// which may be any compiler.
CompilerKind compiler_kind(std::string_view program);

/// The index of the first word that names gcc or clang, by compiler_kind(); words with '=' do not
/// count. `words`: a command, which may begin with programs that run compilers (env A=B, ccache,
/// distcc). words.size() if there is no such word before the first option.
size_t find_compiler(const std::vector<std::string> &words);

} // namespace btflink::kbuild
