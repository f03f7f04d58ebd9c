// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Draws the progress line and takes it away.
#include "merge/progress.h"

#include "common/result.h"
#include "merge/stats.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace btflink::merge
{

Progress::Progress(std::string program) : program_(std::move(program)), thread_([this] { run(); })
{
}

Progress::~Progress()
{
    {
        std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Progress::run()
{
    using Clock = std::chrono::steady_clock;
    constexpr auto silent = std::chrono::milliseconds(1000), step = std::chrono::milliseconds(200);
    constexpr size_t width = 79; // of any terminal
    const Clock::time_point start = Clock::now();
    std::string line;
    std::unique_lock lock(mutex_);
    for (auto wait = silent; !changed_.wait_for(lock, wait, [&] { return over_; }); wait = step) {
        const char *pass = current_pass();
        std::chrono::duration<double> spent = Clock::now() - start;
        std::string text = strf("%s: %s, %.0f s", program_.c_str(), pass ? pass : "start",
                                std::floor(spent.count()))
                               .substr(0, width);
        if (text == line)
            continue;
        // What is left of a longer line before goes under spaces.
        std::string rest(line.size() > text.size() ? line.size() - text.size() : 0, ' ');
        std::fprintf(stderr, "\r%s%s", text.c_str(), rest.c_str());
        line = std::move(text);
    }
    if (!line.empty())
        std::fprintf(stderr, "\r%s\r", std::string(line.size(), ' ').c_str());
}

bool stderr_is_terminal()
{
    return ::isatty(STDERR_FILENO) == 1;
}

} // namespace btflink::merge
