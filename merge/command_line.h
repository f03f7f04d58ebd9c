// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The program btf-merge: its command line, and the page of --report.
#pragma once

#include "common/btf/btf_check.h"
#include "common/io/file_io.h"
#include "merge/merge.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace btflink::merge
{

struct CommandLine {
    Options options;
    std::string check; // file with final BTF to check instead of a merge, or empty
    std::optional<KernelVersion> kernel; // with `check`: the kernel that must accept the BTF
    std::string report;                  // file for the page of --report, or empty
    std::optional<FeatureSet> features;  // if given, replaces options.features
    bool distilled_base = false;         // adds this feature to options.features
    bool quiet = false, stats = false;
    bool help = false, version = false; // with either, the other fields mean nothing
};

/// Errors are usage errors. Call this once per process, because getopt_long() keeps state.
Result<CommandLine> parse_command_line(int argc, char **argv);

/// The text of --help.
std::string help_text();

// report_page.cc: the page of --report. `btf-kernel report` writes it after the merge.

/// Runs btf-kernel after the merge. Inputs that the merge will change are copied first.
class ReportPage
{
public:
    /// Call it before the merge. Finds btf-kernel, and copies an input that the merge updates. If
    /// `options` ask for no trace, sets options.time_trace to a file in memory. Errors: those of
    /// check_page_writable() for `page`, the file to write; btf-kernel is not found; the file to
    /// update is relocatable, and no base is given; a list of inputs, or the file for the trace, is
    /// not a regular file; a file cannot be read or copied.
    Result<void> prepare(const std::string &page, Options &options);
    /// Call it after the merge has written its result. Error: btf-kernel cannot be run, is ended by
    /// a signal, or fails (then it prints the reason itself).
    Result<void> write(const std::string &page, const Options &options);

private:
    Result<std::string> copy_in_memory(const std::string &path);

    std::string program_, image_;
    std::vector<std::string> objects_;
    std::vector<std::unique_ptr<Fd>> files_; // in memory: copies of inputs, a trace
};

/// Error: the result is not in a file, or not of a kind that btf-kernel reads.
Result<void> check_report_options(const Options &options);

} // namespace btflink::merge
