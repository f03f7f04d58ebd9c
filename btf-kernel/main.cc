// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel COMMAND ...: looks at the BTF of whole kernels. Each command reads its own options.
#include "btf-kernel/check/check_command.h"
#include "btf-kernel/command.h"
#include "btf-kernel/diff/diff_command.h"
#include "btf-kernel/encode/encode_command.h"
#include "btf-kernel/report/report_command.h"
#include "common/io/exhaustion.h"
#include "common/io/file_parts.h"
#include "common/version.h"

#include <algorithm>
#include <cstring>

namespace
{

using namespace btflink;

struct Command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv); // argv[0] is the command's name
};

constexpr Command commands[] = {
    {"check", "Would this kernel's BTF, and that of its modules, load and serve?",
     kernel::check_command},
    {"encode", "Make BTF from the DWARF of a kernel and its modules", kernel::encode_command},
    {"diff", "What changed between two kernels, and what does that break?", kernel::diff_command},
    {"report", "A page that shows where bytes and time go", kernel::report_command},
};

void print_help()
{
    std::printf("Look at the BTF of a kernel: of a package, a folder, a build, an image.\n"
                "Usage: btf-kernel COMMAND [OPTIONS] ...\n\n"
                "  -h,--help                   Print this help and exit\n"
                "  --version                   Print the version and exit\n\n"
                "Commands (btf-kernel COMMAND --help says more):\n");
    for (const Command &command : commands)
        std::printf("  %-10s %s\n", command.name, command.help);
}

} // namespace

int main(int argc, char **argv)
{
    report_lost_files("btf-kernel");
    report_exhaustion("btf-kernel");
    const char *word = argc > 1 ? argv[1] : "";
    if (!std::strcmp(word, "--help") || !std::strcmp(word, "-h")) {
        print_help();
        return kernel::end_output(kernel::exit_good);
    }
    if (!std::strcmp(word, "--version")) {
        std::puts(("btf-kernel " + version()).c_str());
        return kernel::end_output(kernel::exit_good);
    }
    for (const Command &command : commands)
        if (!std::strcmp(word, command.name))
            return command.run(argc - 1, argv + 1);
    kernel::print_error(Error{{},
                              *word ? "'" + std::string(word) + "' is no command"
                                    : std::string("a command is required")});
    std::fputs("Try 'btf-kernel --help'.\n", stderr);
    return exit_usage;
}
