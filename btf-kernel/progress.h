// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A bar on the terminal that says how far a long run is.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace btflink::kernel
{

/// One line on standard error, drawn from a second after its construction on, if that is a
/// terminal; its destruction wipes it. By several threads at once.
class ProgressBar
{
public:
    /// `quiet`: draws nothing.
    ProgressBar(std::string what, bool quiet);
    ProgressBar(const ProgressBar &) = delete;
    ProgressBar &operator=(const ProgressBar &) = delete;
    ~ProgressBar();

    /// What is under way from now on.
    void begin(std::string what);
    /// So many are done, of `all`; 0: nobody knows of how many.
    void set(size_t done, size_t all = 0);

private:
    using Clock = std::chrono::steady_clock;

    std::mutex mutex_;
    std::string what_;
    bool shown_;
    Clock::time_point next_; // to draw
    size_t width_ = 0;       // of what is drawn
};

} // namespace btflink::kernel
