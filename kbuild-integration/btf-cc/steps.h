// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the files of btf-cc do for btf-cc.cc and for each other. Reading the compiler's command line
// has a header of its own (compile_command.h).
#pragma once

#include "emit/emit.h"
#include "kbuild-integration/btf-cc/compile_command.h"

#include <map>
#include <string>
#include <vector>

namespace btflink::kbuild
{

// settings.cc: the settings of btf-cc, from options and variables. btf-cc(1) lists them for users.

struct Settings {
    emit::EmitOptions emit; // for an object of a kernel build
    bool plugin = false;    // BTF_CC_PLUGIN: see why_not_by_plugin()
    bool strict = false;    // BTF_CC_STRICT: the compile fails if BTF cannot be made
    bool quiet = false;     // BTF_CC_QUIET: no warnings
    bool verbose = false;   // BTF_CC_VERBOSE: say what was done, or why nothing was
};

/// Options of btf-cc by name, with their values; "1" for an option without a value.
using OptionValues = std::map<std::string, std::string>;

/// Reads the options, and the variables BTF_CC_* of options that are not given. If neither names
/// features, those of $PAHOLE_FLAGS count, which Kbuild exports, or else the default ones. A list
/// that begins with + adds to these. $PAHOLE_FLAGS and $PAHOLE_LANG_EXCLUDE always decide which
/// units are left out, as in btf-pahole. strip_dwarf is turned off if Kbuild reads the DWARF later.
/// Errors: an invalid value.
Result<Settings> read_settings(const OptionValues &options = {});

/// Sets the variables of options, such as BTF_CC_STRIP_DWARF for "strip-dwarf", for the btf-cc that
/// a compiler cache runs. Returns false if memory runs out.
bool export_options(const OptionValues &options);

/// One line with all settings on which objects and warnings depend: see cache_key().
std::string describe(const Settings &settings);

// kbuild_plans.cc: what Kbuild will do with an object, according to the variables that Kbuild
// exports and to the kernel's configuration.

/// Why an object must not get object BTF: Kbuild would not merge it. The kernel would take object
/// BTF in a module for the module's final BTF, and refuse to load the module. Empty if Kbuild
/// merges object BTF, or if this is unknown. `is_module`: the object is for a module. Reads
/// $objtree, $KBUILD_EXTMOD and include/config/auto.conf.
std::string why_no_btf(bool is_module);

/// A warning for the first object of a kernel build whose configuration has no BTF: Kconfig may
/// have turned CONFIG_DEBUG_INFO_BTF off without a message. Empty for all other objects.
std::string why_no_btf_at_all(const std::string &object);

/// A warning if Kbuild makes BTF and the PAHOLE that it exports is not btf-pahole: a user may set
/// CC for make and forget PAHOLE. Otherwise empty.
std::string why_not_merged();

/// Will Kbuild read the DWARF of objects after the compile? From 6.14 on gendwarfksyms computes
/// symbol versions from DWARF. Reads $objtree and auto.conf.
bool reads_dwarf_later();

// plugin_compile.cc: selects the compiles in which the gcc plugin makes object BTF, and their
// options.

/// Why the plugin does not make the BTF of the objects of `command`, in spite of --plugin; empty if
/// it does. Does not depend on the installed plugins. `words`: the whole command.
std::string why_not_by_plugin(const std::vector<std::string> &words, const CompileCommand &command,
                              const Settings &settings);

/// `words` with the options that make the compiler load the plugin. Errors include: the compiler is
/// clang; there is no plugin for the compiler.
Result<std::vector<std::string>> with_plugin(std::vector<std::string> words,
                                             const Settings &settings);

// gcc_plugin.cc: finds the gcc plugin that was built for a compiler, without running that compiler.

/// The compiler's executable for the command word `program`: a path, or a name to look up in PATH.
/// Links are followed, but those to ccache, distcc and the like are skipped: for
/// /usr/lib/ccache/gcc, the compiler is the first other gcc in PATH. Empty if there is no compiler.
std::string find_driver(const std::string &program);

/// The first executable for `program`, which may be ccache or distcc; links are followed. Empty if
/// there is none.
std::string first_program(const std::string &program);

/// The plugin for the compiler `program`. Errors include: there is no such compiler; there is no
/// plugin for exactly this compiler (the message says how to build one).
Result<std::string> find_plugin(const std::string &program);

/// A hash of a file's contents, as text.
Result<std::string> file_hash(const std::string &path);

/// The command (emit/gcc/build-plugin) that builds the plugin for the compiler `program`, in a
/// folder in which find_plugin() looks, and prints the plugin's path. Creates this folder. Errors
/// include: `program` is clang or g++.
Result<std::vector<std::string>> plugin_builder(const std::string &program);

// compiler_cache.cc: ccache caches the output of the command that it runs. To cache objects with
// their BTF, ccache must run btf-cc, and its key must include the settings of btf-cc
// (docs/caches.md).

/// A line for ccache's `compiler_check`: `settings` and a hash of this executable. Unless
/// `compiler` is empty, the compiler's name and the size and time of its file follow, as in
/// ccache's default check, and with settings.plugin a hash of the compiler's plugin, if there is
/// one. Errors include: the compiler does not exist.
Result<std::string> cache_key(const Settings &settings, const std::string &compiler);

/// Base names of the programs that $CCACHE_PREFIX tells ccache to put in front of the compiler.
std::vector<std::string> ccache_prefix();

/// If `program` (a path, or a name to look up in PATH) is ccache or a link to it: sets variables so
/// that ccache runs the compiler through this executable, with `options`, and gets the cache_key()
/// from this executable. Returns true if the caller must run `program` and do nothing after it.
bool put_cache_in_front(const std::string &program, const OptionValues &options);

/// Is this the btf-cc that ccache runs because of put_cache_in_front()? ccache then caches what
/// this btf-cc prints.
bool is_run_by_cache();

} // namespace btflink::kbuild
