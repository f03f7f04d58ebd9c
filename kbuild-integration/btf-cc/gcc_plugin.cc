// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the plugin for a compiler, and the command that builds one.
//
// Problem. A plugin works with one build of gcc only. The plugin is looked up once per object, so
// running a program to identify the compiler would take too long.
//
// Method. A hash of the driver (gcc, not cc1) identifies the build of gcc and names the folder of
// the plugin. A distribution's update of gcc has another hash, so the old plugin is not found. In
// addition, when gcc loads the plugin, the plugin compares gcc's version with that of the headers
// from which it was built.
//
// A plugin must also match btflink. Plugins from btflink's build are installed with btflink.
// Plugins from `btf-cc --build-plugin` are in a folder whose name is a hash of btflink's version
// and of the size and time of their sources. (The time alone is not sufficient: some distributions
// give all files the same time.)
//
// If $BTF_CC_PLUGIN_DIR names a folder, only this folder is used. btf-cc does not check whether the
// plugins in this folder match btflink.
#include "kbuild-integration/btf-cc/steps.h"

#include "common/io/file_io.h"
#include "kbuild-integration/environment.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

namespace btflink::kbuild
{

namespace
{

constexpr const char *folder_variable = "BTF_CC_PLUGIN_DIR";
constexpr const char *system_folder = BTFLINK_STATE_DIR "/btflink/gcc-plugins";
constexpr std::string_view caches_and_distributors[] = {"ccache", "sccache", "distcc", "icecc"};
constexpr const char *plugin_files[] = {"plugin.cc", "roots.cc",  "trees.cc",
                                        "trees.h",   "entries.h", "plugin.map"};

/// The folder of this program, with a slash at its end.
std::string own_folder()
{
    const std::string self = resolved_path("/proc/self/exe");
    return self.substr(0, self.find_last_of('/') + 1);
}

std::string library_folder()
{
    const std::string libraries = BTFLINK_LIBRARIES; // absolute, or relative to own_folder()
    return libraries[0] == '/' ? libraries : own_folder() + libraries;
}

bool is_cache_or_distributor(const std::string &path)
{
    return std::ranges::find(caches_and_distributors, base_name(path)) !=
           std::end(caches_and_distributors);
}

/// The folder of the plugins that were built with this btf-cc: installed, or in its build folder.
std::string own_plugins()
{
    const std::string folder = own_folder();
    if (::access((folder + "gcc-plugin.paths").c_str(), R_OK) == 0)
        return folder + "gcc-plugins";
    return library_folder() + "/gcc-plugins";
}

/// "" if neither XDG_DATA_HOME nor HOME is set.
std::string user_folder()
{
    if (std::string data = variable("XDG_DATA_HOME"); !data.empty())
        return data + "/btflink/gcc-plugins";
    const std::string home = variable("HOME");
    return home.empty() ? home : home + "/.local/share/btflink/gcc-plugins";
}

/// The sources of plugins: a folder with the sources that use gcc's headers, and an archive with
/// everything else.
struct PluginSources {
    std::string folder, archive;
};

Result<PluginSources> plugin_sources()
{
    PluginSources sources;
    if (auto file = read_file(own_folder() + "gcc-plugin.paths")) { // two lines
        std::string_view text = as_text(*file);
        sources.folder = take_part(text, '\n');
        sources.archive = take_part(text, '\n');
    } else {
        sources.folder = library_folder() + "/plugin-source";
        sources.archive = sources.folder + "/libbtflink-gcc-plugin.a";
    }
    if (::access(sources.archive.c_str(), R_OK) != 0)
        return fail_errno(Where{sources.archive}, "sources of gcc plugins are not installed");
    return sources;
}

/// A hash of btflink's version, and of the size and time of each source of plugins.
std::string sources_id(const PluginSources &sources)
{
    std::string text = BTFLINK_VERSION "\n";
    auto add = [&](const std::string &path) {
        struct stat info = {};
        ::stat(path.c_str(), &info);
        text += strf("%lld %lld.%09ld\n", static_cast<long long>(info.st_size),
                     static_cast<long long>(info.st_mtim.tv_sec), info.st_mtim.tv_nsec);
    };
    for (const char *file : plugin_files)
        add(sources.folder + "/emit/gcc/" + file);
    add(sources.archive);
    return strf("%016llx", ull(XXH3_64bits(text.data(), text.size())));
}

/// Folders in which to look for plugins, in this order.
std::vector<std::string> plugin_folders()
{
    if (std::string only = variable(folder_variable); !only.empty())
        return {only};
    std::vector<std::string> folders = {own_plugins()};
    if (auto sources = plugin_sources()) {
        const std::string id = "/" + sources_id(*sources), user = user_folder();
        if (!user.empty())
            folders.push_back(user + id);
        folders.push_back(system_folder + id);
    }
    return folders;
}

/// Where `btf-cc --build-plugin` puts plugins built from `sources`: $BTF_CC_PLUGIN_DIR, otherwise a
/// folder of the system (for root) or of the user.
Result<std::string> folder_for_new_plugins(const PluginSources &sources)
{
    if (std::string only = variable(folder_variable); !only.empty())
        return only;
    const std::string folder = ::geteuid() == 0 ? system_folder : user_folder();
    if (folder.empty())
        return fail({}, "no folder for the plugin: set BTF_CC_PLUGIN_DIR, XDG_DATA_HOME or HOME");
    return folder + "/" + sources_id(sources);
}

} // namespace

std::string first_program(const std::string &program)
{
    const std::vector<std::string> found = programs_named(program);
    return found.empty() ? "" : resolved_path(found.front());
}

std::string find_driver(const std::string &program)
{
    for (const std::string &candidate : programs_named(program))
        if (std::string path = resolved_path(candidate); !is_cache_or_distributor(path))
            return path;
    // A cache looks in PATH for the name by which it was called.
    if (std::string_view name = base_name(program);
        name.size() < program.size() && !first_program(program).empty())
        return find_driver(std::string(name));
    return "";
}

Result<std::string> find_plugin(const std::string &program)
{
    const std::string driver = find_driver(program);
    if (driver.empty())
        return fail({}, program + ": no such compiler");
    const std::string key = TRY(file_hash(driver));
    const std::vector<std::string> folders = plugin_folders();
    for (const std::string &folder : folders)
        if (std::string path = folder + "/" + key + "/btflink.so";
            ::access(path.c_str(), R_OK) == 0)
            return path;
    return fail({}, program + ": no plugin for exactly this compiler (" + driver + ", " + key +
                        "); build one by: btf-cc --build-plugin " + program);
}

Result<std::string> file_hash(const std::string &path)
{
    const std::vector<std::byte> file = TRY(read_file(path));
    return strf("%016llx", ull(XXH3_64bits(file.data(), file.size())));
}

Result<std::vector<std::string>> plugin_builder(const std::string &program)
{
    const std::string driver = find_driver(program);
    if (driver.empty())
        return fail({}, program + ": no such compiler");
    if (compiler_kind(driver) == CompilerKind::clang)
        return fail({}, program + " is clang; the plugin is for gcc");
    if (driver.find("g++", driver.find_last_of('/')) != driver.npos)
        return fail({},
                    program + " is a compiler for C++; the plugin is for C, so give gcc instead");
    const std::string key = TRY(file_hash(driver));
    const PluginSources sources = TRY(plugin_sources());
    const std::string folder = TRY(folder_for_new_plugins(sources));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return fail(Where{folder}, error.message());
    return std::vector<std::string>{sources.folder + "/emit/gcc/build-plugin", driver,
                                    sources.archive, folder, key};
}

} // namespace btflink::kbuild
