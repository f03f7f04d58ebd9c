// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a program prints of itself: --help, --version and the like.
#pragma once

#include "common/result.h"

#include <cstdio>

namespace btflink
{

/// Error: not all of what the program has printed went to standard output.
inline Result<void> flush_output()
{
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        return fail_errno(Where{"standard output"}, "cannot write");
    return {};
}

/// Behind the noun of what is counted.
inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

inline Result<void> print_answer(const std::string &text)
{
    std::fputs(text.c_str(), stdout);
    return flush_output();
}

} // namespace btflink
