// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads $objtree/include/config/auto.conf once, and derives what Kbuild will do with objects.
//
// why_not_merged() is called in each compile. To save time, it does not run a PAHOLE whose name is
// btf-pahole. A program with any other name may be a link to btf-pahole or a script around it, so
// if CONFIG_DEBUG_INFO_BTF is on, this program is run and asked for its version.
#include "kbuild-integration/btf-cc/steps.h"

#include "common/io/file_io.h"
#include "kbuild-integration/environment.h"

#include <cstdio>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace btflink::kbuild
{

namespace
{

/// Kbuild's output folder, with a slash at its end; empty if $objtree is not set.
std::string tree()
{
    std::string folder = variable("objtree");
    return folder.empty() ? folder : folder + "/";
}

/// auto.conf, read once, with a line break before each line and at the end; nothing if this is not
/// a kernel build, or if auto.conf cannot be read.
const std::optional<std::string> &configuration()
{
    static const std::optional<std::string> text = []() -> std::optional<std::string> {
        if (tree().empty())
            return std::nullopt;
        const auto file = read_file(tree() + "include/config/auto.conf");
        if (!file)
            return std::nullopt;
        return "\n" + std::string(as_text(*file)) + "\n";
    }();
    return text;
}

/// Is CONFIG_NAME=y set? `option`: "CONFIG_NAME=y". False without a configuration().
bool is_set(const std::string &option)
{
    return configuration() && configuration()->find("\n" + option + "\n") != std::string::npos;
}

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
    bool found = false;
    // The first line is pahole's version; btf-pahole prints its own in the second.
    for (char line[100]; std::fgets(line, sizeof line, pipe);)
        found |= std::string_view(line).starts_with("btflink ");
    ::pclose(pipe);
    return found;
}

} // namespace

std::string why_no_btf(bool is_module)
{
    if (!configuration())
        return "";
    if (!is_set("CONFIG_DEBUG_INFO_BTF=y"))
        return "CONFIG_DEBUG_INFO_BTF is off";
    if (!is_module)
        return "";
    if (!is_set("CONFIG_DEBUG_INFO_BTF_MODULES=y"))
        return "CONFIG_DEBUG_INFO_BTF_MODULES is off";
    if (!variable("KBUILD_EXTMOD").empty() && ::access((tree() + "vmlinux").c_str(), R_OK) != 0)
        return "Kbuild makes no BTF for external modules without a vmlinux";
    return "";
}

std::string why_no_btf_at_all(const std::string &object)
{
    // Every build of a new tree compiles this object, before all objects of the kernel.
    if (object != "scripts/mod/empty.o" || !configuration() || is_set("CONFIG_DEBUG_INFO_BTF=y"))
        return "";
    return "this kernel gets no BTF, because CONFIG_DEBUG_INFO_BTF is off; Kconfig turns it off "
           "if it finds no pahole (pass PAHOLE=btf-pahole to each make)";
}

bool reads_dwarf_later()
{
    return is_set("CONFIG_GENDWARFKSYMS=y");
}

std::string why_not_merged()
{
    const std::string pahole = variable("PAHOLE");
    if (pahole.empty() || is_named_btf_pahole(pahole) || !is_set("CONFIG_DEBUG_INFO_BTF=y") ||
        says_btflink(pahole))
        return "";
    return "PAHOLE=" + pahole +
           " is not btf-pahole, so object BTF will not be merged and modules will fail to load; "
           "pass PAHOLE=btf-pahole to make";
}

} // namespace btflink::kbuild
