// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge: reads the command line, runs the merge, prints messages, sets the exit status.
#include "common/cli/option_table.h"
#include "common/io/answer.h"
#include "common/io/exhaustion.h"
#include "common/io/file_parts.h"
#include "common/io/job_tokens.h"
#include "common/io/keep_memory.h"
#include "common/version.h"
#include "merge/command_line.h"
#include "merge/explain/check_file.h"
#include "merge/merge.h"
#include "merge/report_page.h"

#include <cstdio>
#include <cstdlib>

namespace
{

using namespace btflink;

constexpr const char *name = "btf-merge";

void print_error(const Error &error)
{
    std::fprintf(stderr, "%s: ERROR: %s\n", name, error.str().c_str());
}

int usage_error(const Error &error)
{
    print_error(error);
    std::fprintf(stderr, "Try '%s --help'.\n", name);
    return exit_usage;
}

int check(const merge::CommandLine &line)
{
    auto found = merge::check_file(line.check, line.options.base, line.kernel);
    if (!found)
        print_error(found.error());
    else
        for (const Error &error : *found)
            print_error(error);
    return found && found->empty() ? 0 : exit_bad_input;
}

/// Error: the output could not be written to standard output.
Result<void> print(const merge::CommandLine &line, const merge::Report &report)
{
    if (!line.quiet)
        for (const std::string &text : report.warnings)
            std::fprintf(stderr, "%s: WARNING: %s\n", name, text.c_str());
    if (line.options.verbose) {
        for (const std::string &text : report.notes)
            std::fprintf(stderr, "%s: %s\n", name, text.c_str());
        for (const auto &[function, reason] : report.functions_left_out)
            std::fprintf(stderr, "%s: function %s left out: %s\n", name, function.c_str(),
                         skip_name(reason));
    }
    if (line.stats)
        std::fputs(report.stats.c_str(), stderr);
    return print_answer(report.why_dup);
}

} // namespace

int main(int argc, char **argv)
{
    report_lost_files(name);
    report_exhaustion(name);
    auto line = merge::parse_command_line(argc, argv);
    if (!line)
        return usage_error(line.error());
    if (line->help || line->version) {
        auto printed =
            print_answer(line->help ? merge::help_text() : name + (" " + version()) + "\n");
        if (!printed)
            print_error(printed.error());
        return printed ? 0 : exit_bad_input;
    }
    if (!line->check.empty())
        return check(*line);

    merge::ReportPage page;
    if (!line->report.empty())
        if (auto ready = page.prepare(line->options); !ready) {
            print_error(ready.error());
            return exit_bad_input;
        }
    keep_freed_memory();
    line->options.threads = take_job_tokens(line->options.threads);
    line->options.last = true;
    merge::Report report;
    Result<void> done = merge::merge(line->options, report);
    Result<void> printed = print(*line, report);
    if (done)
        done = printed;
    if (done && !line->report.empty())
        done = page.write(line->report, line->options);
    if (!done)
        print_error(done.error());
    std::fflush(nullptr);
    give_back_job_tokens();
    std::_Exit(done ? 0 : exit_bad_input); // see Options::last
}
