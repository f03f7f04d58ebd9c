// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// This runs once per object, so a PAHOLE named btf-pahole is accepted by its name. Any other
// program may be a link to btf-pahole or a script around it, and is run to ask for its version.
#include "kbuild-integration/btf-cc/merge_program.h"

#include "kbuild-integration/btf-cc/kbuild_plans.h"
#include "kbuild-integration/environment.h"

#include <cstdio>
#include <string_view>

namespace btflink::kbuild
{

namespace
{

bool is_named_btf_pahole(std::string_view command)
{
    return base_name(command.substr(0, command.find(' '))) == "btf-pahole";
}

/// Does the command's --devel_version name btflink? `command` is run by a shell, as by Kbuild.
bool says_btflink(const std::string &command)
{
    std::FILE *pipe = ::popen((command + " --devel_version 2>/dev/null").c_str(), "re");
    if (!pipe)
        return false;
    bool found = false; // in the second line; the first is pahole's version
    for (char line[100]; std::fgets(line, sizeof line, pipe);)
        found |= std::string_view(line).starts_with("btflink ");
    ::pclose(pipe);
    return found;
}

} // namespace

std::string why_not_merged()
{
    const std::string pahole = variable("PAHOLE");
    if (pahole.empty() || is_named_btf_pahole(pahole) || !makes_btf() || says_btflink(pahole))
        return "";
    return "PAHOLE=" + pahole +
           " is not btf-pahole, so object BTF will not be merged and modules will fail to load; "
           "pass PAHOLE=btf-pahole to make";
}

} // namespace btflink::kbuild
