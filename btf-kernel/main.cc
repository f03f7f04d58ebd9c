// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel COMMAND ...: inspects or makes the BTF of whole kernels.
#include "btf-kernel/commands.h"
#include "common/cli/program.h"
#include "common/io/file_io.h"

#include <string>

namespace
{

using namespace btflink;

struct Command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv); // argv[0] is the command's name
};

constexpr Command commands[] = {
    {"check", "Will kernels and programs accept the BTF of this kernel and its modules?",
     kernel::check_command},
    {"encode", "Make BTF from the DWARF of a kernel and its modules", kernel::encode_command},
    {"diff", "What changed between two kernels, and which programs does that break?",
     kernel::diff_command},
    {"report", "Write an HTML page: where the bytes come from, and how long each step took",
     kernel::report_command},
};

std::string help_text()
{
    std::string text = "Inspect the BTF of a kernel in a package, folder, build or image.\n"
                       "Usage: btf-kernel COMMAND [OPTIONS] ...\n\n"
                       "  -h,--help                   Print this help and exit\n"
                       "  --version                   Print the version and exit\n\n"
                       "Commands (btf-kernel COMMAND --help says more):\n";
    for (const Command &command : commands)
        text += strf("  %-10s %s\n", command.name, command.help);
    return text;
}

} // namespace

int main(int argc, char **argv)
{
    begin_program("btf-kernel");
    report_file_size_limit();
    report_lost_files("btf-kernel");
    const std::string word = argc > 1 ? argv[1] : "";
    if (word == "--help" || word == "-h")
        return answer(help_text());
    if (word == "--version")
        return answer_version(version());
    for (const Command &command : commands)
        if (word == command.name)
            return command.run(argc - 1, argv + 1);
    return usage_error(
        {{}, word.empty() ? "a command is required" : "'" + word + "' is not a command"});
}
