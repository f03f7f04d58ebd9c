// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// This runs once per object, so a PAHOLE named btf-pahole is accepted without a closer look. Any
// other may be a link to it or a script around it; it is asked once per build.
#include "kbuild-integration/btf-cc/merge_program.h"

#include "common/io/fd.h"
#include "common/io/file_io.h"
#include "kbuild-integration/btf-cc/kbuild_plans.h"
#include "kbuild-integration/environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace btflink::kbuild
{

namespace
{

struct Process {
    std::string name;
    long parent = 0;
    std::string start; // in ticks since the system's
};

/// From /proc/PID/stat: "PID (NAME) STATE PARENT ...", with the start as field 22.
Process read_process(long pid)
{
    Process process;
    auto file = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!file)
        return process;
    const std::string_view text(reinterpret_cast<const char *>(file->data()), file->size());
    const size_t open = text.find('('), close = text.rfind(") ");
    if (open == text.npos || close == text.npos || close < open)
        return process;
    process.name = text.substr(open + 1, close - open - 1);
    std::string_view fields = text.substr(close + 2);
    for (int field = 3; field < 23 && !fields.empty(); ++field) {
        const std::string word(fields.substr(0, fields.find(' ')));
        if (field == 4)
            process.parent = std::strtol(word.c_str(), nullptr, 10);
        if (field == 22)
            process.start = word;
        fields.remove_prefix(std::min(word.size() + 1, fields.size()));
    }
    return process;
}

/// A name for the outermost make that we run under; empty: there is none.
std::string name_of_build()
{
    std::string name;
    long pid = ::getppid();
    for (int depth = 0; pid > 1 && depth < 100; ++depth) {
        const Process process = read_process(pid);
        if (process.name == "make" || process.name == "gmake")
            name = std::to_string(pid) + "-" + process.start;
        pid = process.parent;
    }
    return name;
}

/// True once per build, for one of its processes.
bool is_first_of_build()
{
    const std::string build = name_of_build(), folder = variable("TMPDIR");
    if (build.empty())
        return false;
    const std::string path =
        (folder.empty() ? "/tmp" : folder) + "/btf-cc-" + std::to_string(::getuid()) + "-" + build;
    Fd fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    return fd.get() >= 0;
}

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
    if (pahole.empty() || is_named_btf_pahole(pahole) || !makes_btf() || !is_first_of_build() ||
        says_btflink(pahole))
        return "";
    return "PAHOLE=" + pahole +
           " is not btf-pahole: nobody merges what objects have, and modules keep it, which "
           "kernels "
           "do not take; give make PAHOLE=btf-pahole";
}

} // namespace btflink::kbuild
