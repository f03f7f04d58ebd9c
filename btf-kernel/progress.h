// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A progress bar on the terminal.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace btflink::kernel
{

/// One line on standard error if that is a terminal. It appears one second after its construction
/// and is wiped by its destruction. Several threads may use it at once.
class ProgressBar
{
public:
    /// `quiet`: draws nothing.
    ProgressBar(std::string what, bool quiet);
    ProgressBar(const ProgressBar &) = delete;
    ProgressBar &operator=(const ProgressBar &) = delete;
    ~ProgressBar();

    /// Start the next step, called `what`.
    void begin(std::string what);
    /// `done` of `all` items are done; `all` is 0 if not known.
    void set(size_t done, size_t all = 0);

private:
    using Clock = std::chrono::steady_clock;

    std::mutex mutex_;
    std::string what_;
    bool shown_;
    Clock::time_point next_; // when to draw again
    size_t width_ = 0;       // characters on the screen
};

} // namespace btflink::kernel
