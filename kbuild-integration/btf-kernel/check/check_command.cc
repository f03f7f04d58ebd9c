// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the options of btf-kernel check, and prints what was found.
#include "kbuild-integration/btf-kernel/check/check_command.h"

#include "kbuild-integration/btf-kernel/command.h"
#include "kbuild-integration/btf-kernel/package/kernel.h"
#include "kbuild-integration/btf-kernel/progress.h"

#include <algorithm>
#include <thread>

namespace btflink::kernel
{

namespace
{

struct Draft {
    bool help = false, quiet = false;
    OpenOptions open;
};

Result<void> take_threads(Draft &draft, std::string_view text)
{
    auto count = parse_threads(text);
    if (!count)
        return tl::unexpected(count.error());
    draft.open.threads = *count;
    return {};
}

constexpr Option<Draft> options[] = {
    {.words = {.letter = 'h', .name = "help", .help = "Print this help and exit"},
     .flag = [](Draft &d) -> bool & { return d.help; }},
    {.words = {.name = "release", .value = "NAME", .help = "Of several kernels, this one"},
     .text = [](Draft &d) -> std::string & { return d.open.release; }},
    {.words = {.letter = 'j',
               .name = "threads",
               .value = "N",
               .help = "Threads, 1 to 1024 (default: processors); does not change the result"},
     .take = take_threads},
    {.words = {.letter = 'q', .name = "quiet", .help = "No progress bar"},
     .flag = [](Draft &d) -> bool & { return d.quiet; }},
};

} // namespace

int check_command(int argc, char **argv)
{
    Draft draft;
    draft.open.threads = std::max(1u, std::thread::hardware_concurrency());
    auto given = read_options(options, argc, argv, draft, [](const Draft &d) { return d.help; });
    if (!given)
        return usage_error("check", given.error());
    if (draft.help) {
        std::printf("Say what is wrong with the BTF of a kernel and its modules.\n"
                    "Usage: btf-kernel check [OPTIONS] PACKAGE...\n\n%s",
                    options_text(options).c_str());
        return end_output(exit_good);
    }
    if (given->operands.empty())
        return usage_error("check", {{}, "PACKAGE is required"});
    ProgressBar bar("reading modules", draft.quiet);
    draft.open.progress = [&](size_t count) { bar.set(count); };
    auto kernel = open_kernel(given->operands, draft.open);
    if (!kernel) {
        print_error(kernel.error());
        return exit_findings;
    }
    size_t bytes = 0, bases = 0;
    for (const Binary &module : kernel->modules) {
        bytes += module.btf.size();
        bases += !module.base.empty();
        if (module.unreadable)
            print_error(*module.unreadable);
    }
    for (const Error &error : kernel->left_out)
        print_error(error);
    std::printf(
        "%s: vmlinux %s btf %zu symbols %d ids %zu/%zu percpu %zu, config %zu, modules %zu, "
        "btf %zu, distilled %zu\n",
        kernel->release.c_str(), kernel->vmlinux ? kernel->vmlinux->path.c_str() : "-",
        kernel->vmlinux ? kernel->vmlinux->btf.size() : 0,
        kernel->vmlinux && kernel->vmlinux->has_symbols,
        kernel->vmlinux ? kernel->vmlinux->btf_ids.size() : 0,
        kernel->vmlinux ? kernel->vmlinux->id_symbols.size() : 0,
        kernel->vmlinux ? kernel->vmlinux->percpu.size() : 0, kernel->config.size(),
        kernel->modules.size(), bytes, bases);
    return end_output(exit_good);
}

} // namespace btflink::kernel
