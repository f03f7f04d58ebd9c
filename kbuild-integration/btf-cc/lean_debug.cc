// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A compiler spends as much time on the locations of variables and on line numbers as on
// types, but BTF needs only the locations of parameters at a function's entry.
//
// Method. gcc: only debuggers need views, statement frontiers, columns and inline points.
// -fno-merge-debug-strings stores a name that a unit uses once inline, without a symbol and a
// relocation: the assembler has a third less to do, and the object is smaller and encoded faster.
// clang has a switch for columns only.
//
// Rejected. -fno-var-tracking-assignments would save most, but changes BTF: in the 1,307 objects of
// a small kernel, 4 functions of 25,711 (one is __splice_segment) lose the entry location of an
// unused parameter, and look as if their ABI had changed. Compiling such objects twice was tried,
// too: emit/NOTES.md. clang's -gno-inline-line-tables drops the prototypes of inlined functions,
// and types with them.
//
// The kernel suite (lean) checks that neither code nor BTF changes; bench/lean_debug.py does so for
// any compiler.
#include "kbuild-integration/btf-cc/lean_debug.h"

#include "kbuild-integration/environment.h"

#include <algorithm>

namespace btflink::kbuild
{

namespace
{

/// The first gcc with all options below, as CONFIG_GCC_VERSION counts.
constexpr unsigned gcc_8 = 80000;

/// "x86_64-linux-gnu-gcc-12" -> "gcc".
std::string_view bare_name(std::string_view program)
{
    program = base_name(program);
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
        // A word with = is a variable, for env.
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
