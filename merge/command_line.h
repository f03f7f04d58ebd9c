// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-merge's command line.
#pragma once

#include "common/btf/kernel_forms.h"
#include "merge/options.h"

#include <optional>
#include <string>

namespace btflink::merge
{

struct CommandLine {
    Options options;
    std::string check; // file with final BTF to check instead of a merge, or empty
    std::optional<KernelVersion> kernel; // with `check`: see kernel_forms()
    std::string report;                  // file for the page of --report, or empty
    bool quiet = false, stats = false;
    bool help = false, version = false; // with either, nothing else is set
};

/// Errors are usage errors. Call it once per process, see common/cli/option_table.h.
Result<CommandLine> parse_command_line(int argc, char **argv);

/// The text of --help.
std::string help_text();

} // namespace btflink::merge
