// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Recognises ccache in front of the compiler, and makes ccache run the compiler through btf-cc.
// Makes the line that ccache adds to its keys.
#include "kbuild-integration/btf-cc/steps.h"

#include "kbuild-integration/environment.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <sys/stat.h>

namespace btflink::kbuild
{

namespace
{

// Set for the btf-cc that ccache runs.
constexpr const char *in_ccache_variable = "BTF_CC_IN_CCACHE";

} // namespace

std::vector<std::string> ccache_prefix()
{
    std::istringstream words(variable("CCACHE_PREFIX"));
    std::vector<std::string> names;
    for (std::string word; std::getline(words, word, ' ');)
        names.emplace_back(base_name(word));
    return names;
}

Result<std::string> cache_key(const Settings &settings, const std::string &compiler)
{
    std::string key = describe(settings) + " tool=" + TRY(file_hash("/proc/self/exe"));
    if (compiler.empty())
        return key;

    struct stat info;
    std::string path = first_program(compiler);
    if (path.empty() || stat(path.c_str(), &info) != 0)
        return fail({}, compiler + ": no such compiler");
    key += " compiler=" + std::string(base_name(compiler)) +
           strf(",size=%lld,time=%lld.%09ld", static_cast<long long>(info.st_size),
                static_cast<long long>(info.st_mtim.tv_sec), info.st_mtim.tv_nsec);
    if (!settings.plugin)
        return key;
    if (auto plugin = find_plugin(compiler)) // a compile that needs a missing plugin fails
        key += " plugin=" + TRY(file_hash(*plugin));
    return key;
}

bool put_cache_in_front(const std::string &program, const OptionValues &options)
{
    if (base_name(first_program(program)) != "ccache")
        return false;
    std::string self = resolved_path("/proc/self/exe");
    // These characters are special to ccache, which does not support quotes. If the path has one of
    // them, or is unknown, btf-cc stays in front of ccache, which is correct but slower.
    if (self.empty() || self.find_first_of(" \t\n;%$") != std::string::npos)
        return false;
    std::string prefix = variable("CCACHE_PREFIX");
    const std::vector<std::string> programs = ccache_prefix();
    if (std::ranges::find(programs, "btf-cc") == programs.end())
        prefix = self + (prefix.empty() ? "" : " ") + prefix;
    std::string check = self + " --settings %compiler%";
    return export_options(options) && setenv("CCACHE_PREFIX", prefix.c_str(), 1) == 0 &&
           setenv("CCACHE_COMPILERCHECK", check.c_str(), 1) == 0 &&
           setenv(in_ccache_variable, "1", 1) == 0;
}

bool is_run_by_cache()
{
    return !variable(in_ccache_variable).empty();
}

} // namespace btflink::kbuild
