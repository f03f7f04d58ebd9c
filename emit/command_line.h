// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The command line of btf-emit: a table of options (common/cli), for getopt_long(3) and for --help.
#pragma once

#include "emit/emit.h"

#include <string>
#include <vector>

namespace btflink::emit
{

struct CommandLine {
    std::vector<std::string> files;
    EmitOptions emit;
    std::string trace_path; // "": no trace
    bool stats = false, verbose = false;
    bool quiet = false;                 // no warnings
    bool help = false, version = false; // if set, the rest is ignored
};

/// Errors are usage errors. Call it once per process: getopt_long() keeps a state, and permutes
/// `argv`.
Result<CommandLine> parse_command_line(int argc, char **argv);

/// The text of --help.
std::string help_text();

} // namespace btflink::emit
