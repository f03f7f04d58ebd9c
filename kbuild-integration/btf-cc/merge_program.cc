// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// This runs once per object, so a PAHOLE named btf-pahole is accepted without a closer look. Any
// other may be a link to it or a script around it, and is asked.
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
    const std::string_view program = command.substr(0, command.find(' '));
    return program.substr(program.find_last_of('/') + 1) == "btf-pahole"; // npos + 1 is 0
}

/// By what it says of itself. Kbuild has a shell run `command`, too.
bool says_btflink(const std::string &command)
{
    std::FILE *pipe = ::popen((command + " --devel_version 2>/dev/null").c_str(), "re");
    if (!pipe)
        return false;
    bool found = false; // in the second line; the first is that of the pahole that it stands for
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
           " is not btf-pahole: nobody merges what objects have, and modules keep it, which "
           "kernels "
           "do not take; give make PAHOLE=btf-pahole";
}

} // namespace btflink::kbuild
