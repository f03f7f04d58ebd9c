// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads $objtree/include/config/auto.conf once, and derives Kbuild's plans.
#include "kbuild-integration/btf-cc/kbuild_plans.h"

#include "common/io/file_io.h"
#include "kbuild-integration/environment.h"

#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace btflink::kbuild
{

namespace
{

/// Does `text` have a line that is exactly `line`?
bool has_line(std::string_view text, std::string_view line)
{
    for (size_t at = 0; (at = text.find(line, at)) != text.npos; at += line.size()) {
        size_t end = at + line.size();
        if ((at == 0 || text[at - 1] == '\n') && (end == text.size() || text[end] == '\n'))
            return true;
    }
    return false;
}

/// Kbuild's output folder, with a slash at its end; empty if $objtree is not set.
std::string tree()
{
    std::string folder = variable("objtree");
    return folder.empty() ? folder : folder + "/";
}

/// auto.conf, read once; nothing if this is no kernel build.
std::optional<std::string_view> configuration()
{
    static const Result<std::vector<std::byte>> file = [] {
        return tree().empty() ? Result<std::vector<std::byte>>(fail({}, "no tree"))
                              : read_file(tree() + "include/config/auto.conf");
    }();
    if (!file)
        return {};
    return std::string_view(reinterpret_cast<const char *>(file->data()), file->size());
}

} // namespace

std::string why_no_btf(bool of_a_module)
{
    const std::optional<std::string_view> options = configuration();
    if (!options)
        return "";
    if (!has_line(*options, "CONFIG_DEBUG_INFO_BTF=y"))
        return "CONFIG_DEBUG_INFO_BTF is off";
    if (!of_a_module)
        return "";
    if (!has_line(*options, "CONFIG_DEBUG_INFO_BTF_MODULES=y"))
        return "CONFIG_DEBUG_INFO_BTF_MODULES is off";
    if (!variable("KBUILD_EXTMOD").empty() && ::access((tree() + "vmlinux").c_str(), R_OK) != 0)
        return "Kbuild makes no BTF for external modules without a vmlinux";
    return "";
}

bool makes_btf()
{
    const std::optional<std::string_view> options = configuration();
    return options && has_line(*options, "CONFIG_DEBUG_INFO_BTF=y");
}

bool reads_dwarf_later()
{
    const std::optional<std::string_view> options = configuration();
    return options && has_line(*options, "CONFIG_GENDWARFKSYMS=y");
}

} // namespace btflink::kbuild
