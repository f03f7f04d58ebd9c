// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The command line of btf-emit as a table of options, which is the parser and --help. A kernel
// build reads it 3,000 times: a library for command lines took as long as encoding a small object
// (NOTES.md).
#pragma once

#include "emit/emit.h"

#include <span>
#include <string>
#include <vector>

namespace btflink::emit
{

struct CommandLine {
    std::vector<std::string> files;
    EmitOptions emit;
    std::string trace_path; // "": no trace
    bool stats = false, verbose = false;
    bool help = false, version = false; // one of these: nothing else counts
};

/// `arguments`: without the program's name. An option's value is the next word, or stands behind
/// '=' (short options: directly behind the letter); options may come after files; "--" ends them.
/// Errors are wrong usage.
Result<CommandLine> parse_command_line(std::span<const char *const> arguments);

/// What --help prints.
std::string help_text();

} // namespace btflink::emit
