// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A compiler spends as much time on where variables are at each instruction, and on which
// line that is, as on types, but BTF needs only where parameters are at the function's entry.
//
// Method. gcc: views, statement frontiers, columns and inline points are for debuggers alone.
// -fno-merge-debug-strings puts names that a unit uses once where they are used, without a symbol
// and a relocation for each: the assembler has a third less to do, the object is smaller and
// encoded faster. What would save most, -fno-var-tracking-assignments, changes BTF: in the 1,307
// objects of a small kernel 4 functions of 25,711 (__splice_segment was one) lose the location at
// their entry of a parameter that is not used, and look as if their ABI had changed. (To compile
// such objects twice was tried, too: emit/NOTES.md.) clang has no such switches but that for
// columns; what it does with inlined functions (-gno-inline-line-tables) takes away their
// prototypes, and types with them.
//
// That neither code nor BTF changes is checked by the kernel suite (lean), and by
// bench/lean_debug.py for any compiler.
#include "kbuild-integration/btf-cc/lean_debug.h"

#include <algorithm>

namespace btflink::kbuild
{

namespace
{

/// From this one on gcc knows all options below; CONFIG_GCC_VERSION counts so.
constexpr unsigned gcc_8 = 80000;

/// "x86_64-linux-gnu-gcc-12" -> "gcc".
std::string_view bare_name(std::string_view program)
{
    program.remove_prefix(program.find_last_of('/') + 1); // npos + 1 is 0
    const size_t version = program.find_last_not_of("0123456789.");
    if (version != program.npos && version + 1 < program.size() && program[version] == '-')
        program = program.substr(0, version);
    return program.substr(program.find_last_of('-') + 1);
}

} // namespace

CompilerKind compiler_kind(std::string_view program)
{
    const std::string_view name = bare_name(program);
    if (name == "gcc" || name == "g++")
        return CompilerKind::gcc;
    if (name == "clang" || name == "clang++")
        return CompilerKind::clang;
    return CompilerKind::other;
}

size_t find_compiler(const std::vector<std::string> &words)
{
    auto found = std::find_if(words.begin(), words.end(), [](const std::string &word) {
        // With = it is a variable, for env.
        return word.starts_with('-') ||
               (word.find('=') == word.npos && compiler_kind(word) != CompilerKind::other);
    });
    if (found != words.end() && found->starts_with('-'))
        return words.size();
    return static_cast<size_t>(found - words.begin());
}

std::vector<std::string> lean_debug_options(CompilerKind kind, const Compiler &configured)
{
    if (kind == CompilerKind::clang)
        return {"-gno-column-info"};
    if (kind != CompilerKind::gcc)
        return {};
    std::vector<std::string> options = {"-fno-merge-debug-strings"};
    if (configured.kind == CompilerKind::gcc && configured.version >= gcc_8)
        options.insert(options.end(), {"-gno-variable-location-views", "-gno-statement-frontiers",
                                       "-gno-column-info", "-gno-inline-points"});
    return options;
}

} // namespace btflink::kbuild
