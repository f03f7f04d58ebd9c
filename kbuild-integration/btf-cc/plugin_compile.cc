// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decides whether an object gets its BTF from the gcc plugin, and adds the plugin to the command.
// The decision does not depend on the installed plugins: a missing plugin is an error.
#include "kbuild-integration/btf-cc/steps.h"

#include "kbuild-integration/environment.h"

#include <algorithm>

namespace btflink::kbuild
{

namespace
{

/// The base names of all programs that may run the compiler: of the command's words up to the
/// compiler, of the targets of those words that are links, and of the programs in $CCACHE_PREFIX.
/// If no word names gcc or clang, all words before the first option count.
std::vector<std::string> runners(const std::vector<std::string> &words)
{
    std::vector<std::string> names;
    for (const std::string &word : words) {
        if (word.starts_with('-'))
            break;
        if (word.find('=') != std::string::npos)
            continue; // a variable, for env
        names.emplace_back(base_name(word));
        names.emplace_back(base_name(first_program(word)));
        if (compiler_kind(word) != CompilerKind::other)
            break;
    }
    const std::vector<std::string> prefix = ccache_prefix();
    names.insert(names.end(), prefix.begin(), prefix.end());
    return names;
}

bool has(const std::vector<std::string> &names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

bool takes_all_c(const emit::UnitFilter &filter)
{
    // DW_LANG_C89, C, C99, C11, C17, C23
    constexpr uint16_t languages[] = {0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e};
    return filter.excluded_names.empty() && std::ranges::all_of(languages, [&](uint16_t language) {
               return filter.takes_language(language);
           });
}

/// The index of the compiler in a command: of the first word that names gcc or clang; otherwise of
/// the first program that is not env, a compiler cache, distcc or icecc; otherwise 0. Only words
/// before the first option count.
size_t compiler_place(const std::vector<std::string> &words)
{
    size_t at = find_compiler(words);
    if (at < words.size())
        return at;
    for (at = 0; at < words.size() && !words[at].starts_with('-'); ++at)
        if (words[at].find('=') == std::string::npos && base_name(words[at]) != "env" &&
            !find_driver(words[at]).empty())
            return at;
    return 0;
}

/// Is this an option of a compile, rather than of a program that runs compilers? The compiler
/// stands before such options.
bool is_compile_option(std::string_view word)
{
    constexpr std::string_view options[] = {"-D",       "-I",       "-M", "-O",        "-U",  "-W",
                                            "-include", "-isystem", "-g", "-nostdinc", "-std"};
    return std::ranges::any_of(options,
                               [&](std::string_view option) { return word.starts_with(option); });
}

bool names_compiler(const std::string &word)
{
    return compiler_kind(word) != CompilerKind::other || bare_name(word) == "cc" ||
           bare_name(word) == "c++" || find_plugin(word);
}

/// The first compiler after words[place] and before the options of the compile. Empty if there is
/// none.
std::string later_compiler(const std::vector<std::string> &words, size_t place)
{
    for (size_t i = place + 1; i < words.size() && !is_compile_option(words[i]); ++i)
        if (words[i - 1] != "-o" && // words[i] may be an output file
            !find_driver(words[i]).empty() && names_compiler(words[i]))
            return words[i];
    return "";
}

/// The plugin for the compiler words[place]. If words[place] seems to be a program that runs the
/// compiler, such as nice in "nice -n 1 gcc", the error says how to write the command.
Result<std::string> plugin_for(const std::vector<std::string> &words, size_t place)
{
    auto plugin = find_plugin(words[place]);
    if (plugin || compiler_kind(words[place]) != CompilerKind::other ||
        find_driver(words[place]).empty())
        return plugin;
    const std::string other = later_compiler(words, place);
    if (other.empty())
        return plugin;
    return fail({}, "--plugin: cannot tell whether " + words[place] + " or " + other +
                        " is the compiler; put btf-cc directly in front of the compiler");
}

} // namespace

std::string why_not_by_plugin(const std::vector<std::string> &words, const CompileCommand &command,
                              const Settings &settings)
{
    if (!command.only_c)
        return "not C";
    if (bare_name(words[compiler_place(words)]).ends_with("++") ||
        bare_name(words[0]).ends_with("++"))
        return "a compiler for C++";
    if (!command.asks_for_dwarf)
        return "the command does not ask for debug information (-g)";
    if (command.slim_lto)
        return "-flto without -ffat-lto-objects";
    // Other machines do not have the plugin.
    if (const auto names = runners(words); has(names, "distcc") || has(names, "icecc"))
        return "compiled on another machine";
    if (!takes_all_c(settings.emit.filter))
        return "PAHOLE_FLAGS or PAHOLE_LANG_EXCLUDE leaves out a version of C, or units by name";
    if (reads_dwarf_later())
        return "CONFIG_GENDWARFKSYMS reads DWARF";
    return "";
}

Result<std::vector<std::string>> with_plugin(std::vector<std::string> words,
                                             const Settings &settings)
{
    const size_t place = compiler_place(words);
    if (compiler_kind(words[place]) == CompilerKind::clang)
        return fail({}, "the plugin is for gcc; for clang, leave out --plugin or BTF_CC_PLUGIN");
    const std::string plugin = TRY(plugin_for(words, place));
    std::vector<std::string> options = {
        "-g0",
        "-fplugin=" + plugin,
        strf("-fplugin-arg-btflink-features=0x%x", settings.emit.unit.features.bits()),
    };
    if (settings.strict)
        options.emplace_back("-fplugin-arg-btflink-strict");
    if (settings.quiet)
        options.emplace_back("-fplugin-arg-btflink-quiet");
    // ccache includes the plugin in its key; sccache considers only the command.
    if (has(runners(words), "sccache"))
        options.push_back("-fplugin-arg-btflink-id=" + TRY(file_hash(plugin)));
    // After all other options, because the last -g counts.
    words.insert(std::ranges::find(words, "--"), options.begin(), options.end());
    return words;
}

} // namespace btflink::kbuild
