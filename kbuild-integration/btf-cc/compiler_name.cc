// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A name may have a target in front and a version behind, each with a hyphen.
#include "kbuild-integration/btf-cc/compiler_name.h"

#include "kbuild-integration/environment.h"

#include <algorithm>

namespace btflink::kbuild
{

namespace
{

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

} // namespace btflink::kbuild
