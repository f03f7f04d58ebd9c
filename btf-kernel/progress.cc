// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Draws the bar, five times a second at most.
#include "btf-kernel/progress.h"

#include "common/result.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace btflink::kernel
{

ProgressBar::ProgressBar(std::string what, bool quiet)
    : what_(std::move(what)), shown_(!quiet && ::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + std::chrono::seconds(1))
{
}

ProgressBar::~ProgressBar()
{
    if (width_)
        std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
}

void ProgressBar::begin(std::string what)
{
    std::lock_guard lock(mutex_);
    what_ = std::move(what);
}

void ProgressBar::set(size_t done, size_t all)
{
    if (!shown_)
        return;
    std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (now < next_)
        return;
    next_ = now + std::chrono::milliseconds(200);
    constexpr size_t bar = 30;
    std::string text = "btf-kernel: " + what_ + " ";
    if (all) {
        const size_t full = std::min(done, all) * bar / all;
        text += "[" + std::string(full, '#') + std::string(bar - full, ' ') + "] " +
                strf("%zu/%zu", done, all);
    } else {
        text += strf("%zu", done);
    }
    text = text.substr(0, 79);
    std::fprintf(stderr, "\r%-*s", static_cast<int>(width_), text.c_str());
    width_ = std::max(width_, text.size());
}

} // namespace btflink::kernel
