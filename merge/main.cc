// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge: parses the command line, runs the merge, prints messages, sets the exit status.
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "merge/command_line.h"
#include "merge/explain/explain.h"
#include "merge/merge.h"

#include <cstdio>

namespace
{

using namespace btflink;

int check(const merge::CommandLine &line)
{
    auto found = merge::check_file(line.check, line.options.base, line.kernel);
    if (!found)
        return input_error(found.error());
    for (const Error &error : *found)
        print_error(error);
    return found->empty() ? exit_good : exit_bad_input;
}

/// Error: standard output could not be written.
Result<void> print(const merge::CommandLine &line, const merge::Report &report)
{
    if (!line.quiet)
        for (const std::string &text : report.warnings)
            print_warning(text);
    if (line.options.verbose) {
        for (const std::string &text : report.notes)
            print_note(text);
        for (const auto &[function, reason] : report.functions_left_out)
            print_note("function " + function + " left out: " + skip_name(reason));
    }
    if (line.stats)
        std::fputs(report.stats.c_str(), stderr);
    std::fputs(report.why_dup.c_str(), stdout);
    return flush_output();
}

} // namespace

int main(int argc, char **argv)
{
    begin_program("btf-merge");
    report_file_size_limit();
    report_lost_files("btf-merge");
    auto line = merge::parse_command_line(argc, argv);
    if (!line)
        return usage_error(line.error());
    if (line->help)
        return answer(merge::help_text());
    if (line->version)
        return answer_version(version());
    if (!line->check.empty())
        return check(*line);

    merge::ReportPage page;
    if (!line->report.empty())
        if (auto ready = page.prepare(line->report, line->options); !ready)
            return input_error(ready.error());
    keep_freed_memory();
    line->options.last = true;
    merge::Report report;
    Result<void> done = merge::merge(line->options, report);
    Result<void> printed = print(*line, report);
    if (done)
        done = printed;
    if (done && !line->report.empty() && report.why_nothing.empty())
        done = page.write(line->report, line->options);
    end_program(done ? exit_good : input_error(done.error())); // see Options::last
}
