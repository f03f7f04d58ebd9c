// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the gcc plugin that was built for a compiler, without running that compiler.
#pragma once

#include "common/result.h"

#include <string>
#include <vector>

namespace btflink::kbuild
{

/// The compiler's file that runs for the command word `program`. Links are followed; links to a
/// cache or a distributor (/usr/lib/ccache/gcc) are skipped. Empty if there is no such compiler.
std::string find_driver(const std::string &program);

/// The same, but includes links to a cache or a distributor.
std::string first_program(const std::string &program);

/// Different for any two builds of gcc: the build id of the driver, or a hash of its contents if it
/// has no build id.
Result<std::string> compiler_key(const std::string &driver);

/// The plugin for the compiler `program`. Error: there is no plugin for exactly this compiler; the
/// message says how to build it.
Result<std::string> find_plugin(const std::string &program);

/// A hash of a file's contents, as text.
Result<std::string> file_hash(const std::string &path);

/// The sources of plugins: a folder with the sources that use gcc's headers, and an archive with
/// everything else.
struct PluginSources {
    std::string folder, archive;
};
Result<PluginSources> plugin_sources();

/// Where `btf-cc --build-plugin` puts plugins built from `sources`: $BTF_CC_PLUGIN_DIR, otherwise a
/// folder of the system (for root) or of the user.
Result<std::string> folder_for_new_plugins(const PluginSources &sources);

/// Builds the plugin for the compiler `program`, tests it on a small file, and puts it where
/// find_plugin() looks for it. Returns the plugin's path. On an error an older plugin stays.
Result<std::string> build_plugin(const std::string &program);

} // namespace btflink::kbuild
