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
    bool help = false, version = false; // with either, nothing else is set
};

/// Errors are usage errors. Call it once per process, see common/cli/option_table.h.
Result<CommandLine> parse_command_line(int argc, char **argv);

/// The text of --help.
std::string help_text();

// report_page.cc: --report: a page about one merge, written by btf-kernel report.

/// Runs btf-kernel after the merge. Inputs that the merge will change are copied first.
class ReportPage
{
public:
    /// Finds btf-kernel, and copies an input that the merge updates. If `options` ask for no trace,
    /// has one written into memory. Errors: btf-kernel is not installed, or cannot read the result;
    /// an input cannot be read.
    Result<void> prepare(Options &options);
    /// Call it after the merge has written its result. Error: the page could not be written;
    /// btf-kernel has printed the reason.
    Result<void> write(const std::string &page, const Options &options);

private:
    Result<std::string> copy_in_memory(const std::string &path);

    std::string program_, image_;
    std::vector<std::string> objects_;
    std::vector<std::unique_ptr<Fd>> files_; // in memory
};

/// Error: the result is not in a file, or not of a kind that btf-kernel reads.
Result<void> check_report_options(const Options &options);

} // namespace btflink::merge
