// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Shows the progress of a long step on the terminal.
#pragma once

#include "common/result.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace btflink::kernel
{

/// One line on standard error if that is a terminal: "btf-kernel: reading modules: 512". It appears
/// after a second, changes at most five times a second, and is erased at the end.
class Progress
{
public:
    /// `quiet`: prints nothing.
    explicit Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
    ~Progress()
    {
        if (printed_)
            std::fputs(wipe, stderr);
    }

    /// `all`: what `done` will be at the end; 0 if unknown.
    void set(const char *what, size_t done, size_t all = 0)
    {
        const Clock::time_point now = Clock::now();
        if (!shown_ || now < next_)
            return;
        next_ = now + std::chrono::milliseconds(200);
        const std::string of = all ? strf(" of %zu", all) : "";
        std::fprintf(stderr, "%sbtf-kernel: %s: %zu%s", wipe, what, done, of.c_str());
        printed_ = true;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr const char *wipe = "\r\033[K"; // erases the line

    const bool shown_;
    bool printed_ = false;
    Clock::time_point next_ = Clock::now() + std::chrono::seconds(1); // when to print next
};

} // namespace btflink::kernel
