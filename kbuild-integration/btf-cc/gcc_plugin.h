// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the gcc plugin that was built for exactly one compiler, without running that compiler.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// The file that runs if a command says `program`: links are followed, and those named like a
/// compiler that lead to a cache or a distributor (/usr/lib/ccache/gcc) are passed over.
/// Empty: there is none.
std::string find_driver(const std::string &program);

/// The same, but a cache or a distributor that is called like a compiler counts.
std::string first_program(const std::string &program);

/// Differs between any two builds of gcc: the build id of the driver, or, if it has none, a hash of
/// its contents.
Result<std::string> compiler_key(const std::string &driver);

/// The plugin for the compiler `program`. Error: there is none for exactly this one; says how to
/// get one.
Result<std::string> find_plugin(const std::string &program);

/// A hash of the plugin's file.
Result<std::string> plugin_id(const std::string &plugin);

/// What plugins are made of: a folder with gcc's side of them, and an archive with the rest.
struct PluginSources {
    std::string folder, archive;
};
Result<PluginSources> plugin_sources();

/// Where `btf-cc --build-plugin` puts plugins: $BTF_CC_PLUGIN_DIR, or, made of these sources, a
/// folder of the system (for root) or of the user.
Result<std::string> folder_for_new_plugins(const PluginSources &sources);

} // namespace btflink::kbuild
