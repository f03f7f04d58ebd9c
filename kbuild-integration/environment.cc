// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Looks up environment variables, and programs in PATH.
#include "kbuild-integration/environment.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink::kbuild
{

std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

Result<bool> switch_variable(const char *name)
{
    std::string value = variable(name);
    if (value.empty() || value == "0")
        return false;
    if (value == "1")
        return true;
    return fail({}, std::string(name) + "=" + value + ": must be 0 or 1", ErrorKind::environment);
}

std::vector<std::string> programs_named(const std::string &name)
{
    std::vector<std::string> found;
    auto add = [&](const std::string &candidate) {
        struct stat info;
        if (::access(candidate.c_str(), X_OK) == 0 && ::stat(candidate.c_str(), &info) == 0 &&
            S_ISREG(info.st_mode))
            found.push_back(candidate);
    };
    if (name.find('/') != std::string::npos) {
        add(name);
        return found;
    }
    std::string path = variable("PATH");
    for (size_t at = 0; !path.empty() && at <= path.size();) {
        size_t end = std::min(path.find(':', at), path.size());
        std::string folder = path.substr(at, end - at);
        add((folder.empty() ? "." : folder) + "/" + name);
        at = end + 1;
    }
    return found;
}

std::string resolved_path(const std::string &path)
{
    char whole[PATH_MAX];
    return realpath(path.c_str(), whole) ? whole : "";
}

} // namespace btflink::kbuild
