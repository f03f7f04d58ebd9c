// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A line on the terminal that says what a long run is at.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace btflink::merge
{

/// From a second after its construction until its destruction, which wipes it: one line on standard
/// error with the pass that is under way and the time so far. For terminals only: nothing tells the
/// line from messages in a file.
class Progress
{
public:
    explicit Progress(std::string program);
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
    ~Progress();

private:
    void run();

    std::string program_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

/// Is standard error a terminal?
bool stderr_is_terminal();

} // namespace btflink::merge
