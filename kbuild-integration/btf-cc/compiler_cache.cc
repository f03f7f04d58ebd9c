// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Recognises ccache in front of the compiler and makes it call btf-cc.
#include "kbuild-integration/btf-cc/compiler_cache.h"

#include "common/io/file_io.h"
#include "kbuild-integration/btf-cc/gcc_plugin.h"
#include "kbuild-integration/environment.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

namespace btflink::kbuild
{

namespace
{

std::string_view base_name(std::string_view path)
{
    return path.substr(path.find_last_of('/') + 1); // npos + 1 is 0
}

/// What execvp() would run; empty if nothing.
std::string find_program(const std::string &name)
{
    if (name.find('/') != std::string::npos)
        return access(name.c_str(), X_OK) == 0 ? name : "";
    std::vector<std::string> found = programs_named(name);
    return found.empty() ? "" : found.front();
}

/// `path` without links; empty if there is no such file.
std::string resolve(const std::string &path)
{
    char whole[PATH_MAX];
    return realpath(path.c_str(), whole) ? whole : "";
}

bool names_us(std::string_view words)
{
    while (!words.empty()) {
        size_t end = std::min(words.find(' '), words.size());
        if (base_name(words.substr(0, end)) == "btf-cc")
            return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

} // namespace

Result<std::string> cache_key(const Settings &settings, const std::string &compiler)
{
    auto self = TRY(FilePages::read("/proc/self/exe"));
    char text[80];
    std::snprintf(
        text, sizeof text, " tool=%016llx",
        static_cast<unsigned long long>(XXH3_64bits(self.bytes().data(), self.bytes().size())));
    std::string key = describe(settings) + text;
    if (compiler.empty())
        return key;

    struct stat info;
    std::string path = find_program(compiler);
    if (path.empty() || stat(path.c_str(), &info) != 0)
        return fail({}, compiler + ": no such compiler");
    std::snprintf(text, sizeof text, ",size=%lld,time=%lld.%09ld",
                  static_cast<long long>(info.st_size), static_cast<long long>(info.st_mtim.tv_sec),
                  info.st_mtim.tv_nsec);
    key += " compiler=" + std::string(base_name(compiler)) + text;
    if (!settings.plugin)
        return key;
    if (auto plugin = find_plugin(compiler)) // without one nothing is compiled
        key += " plugin=" + TRY(plugin_id(*plugin));
    return key;
}

bool get_behind_cache(const std::string &program, const std::vector<std::string> &options)
{
    if (base_name(resolve(find_program(program))) != "ccache")
        return false;
    std::string self = resolve("/proc/self/exe");
    // ccache splits at these and knows no quotes: stay in front, which is right, but slower.
    if (self.empty() || self.find_first_of(" \t\n;%") != std::string::npos)
        return false;
    std::string prefix = variable("CCACHE_PREFIX");
    if (!names_us(prefix))
        prefix = self + (prefix.empty() ? "" : " ") + prefix;
    std::string check = self + " --settings %compiler%";
    for (const std::string &option : options) {
        auto [name, value] = variable_of(option);
        if (setenv(name.c_str(), value.c_str(), 1) != 0)
            return false;
    }
    return setenv("CCACHE_PREFIX", prefix.c_str(), 1) == 0 &&
           setenv("CCACHE_COMPILERCHECK", check.c_str(), 1) == 0;
}

} // namespace btflink::kbuild
