// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the commands of btf-kernel have in common: how they end, and how they say why.
#pragma once

#include "common/cli/option_table.h"
#include "common/io/answer.h"

#include <cstdio>

namespace btflink::kernel
{

// As of all commands: 0 good, 1 findings or bad input, 2 wrong usage.
constexpr int exit_good = 0, exit_findings = 1;

inline void print_error(const Error &error)
{
    std::fprintf(stderr, "btf-kernel: ERROR: %s\n", error.str().c_str());
}

/// `command`: "check".
inline int usage_error(const char *command, const Error &error)
{
    print_error(error);
    std::fprintf(stderr, "Try 'btf-kernel %s --help'.\n", command);
    return exit_usage;
}

/// All that went to standard output is there, or the exit status says otherwise.
inline int end_output(int status)
{
    auto written = flush_output();
    if (written)
        return status;
    print_error(written.error());
    return exit_findings;
}

} // namespace btflink::kernel
