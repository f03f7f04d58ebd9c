// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs each piece of work in its own forked process. A crash ends one piece and not the run, and
// the processes share the memory that existed before the fork.
#pragma once

#include "common/result.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace btflink::kernel
{

struct WorkResult {
    bool failed = false;
    std::string text;  // cut to 4,000 bytes
    bool lost = false; // the process ended without a result; `text` does not name the file
};

/// Several forked processes at a time. The calling thread must be the only one. Only one pool of a
/// program may have running processes, because a pool waits for all children.
class WorkerPool
{
public:
    using Work = std::function<WorkResult()>;

    /// `workers`: concurrent processes, at least one.
    explicit WorkerPool(unsigned workers);
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;
    /// Ends all running processes.
    ~WorkerPool();

    /// Calls `work` in a new process, which inherits all open files. Waits while `workers`
    /// processes are running. Error: the system refuses a process.
    Result<void> add(const Work &work);
    /// Number of pieces that have ended.
    size_t ended() const { return results_.size() - running_.size(); }
    /// Waits for the rest and calls `look` after each end. Results are in the order of add().
    std::vector<WorkResult> finish(const std::function<void()> &look);

private:
    /// What a process leaves in memory that it shares with this one.
    struct Answer {
        bool done, failed;
        char text[4001];
    };
    struct UnmapAnswer {
        void operator()(Answer *answer) const;
    };
    struct RunningWorker {
        size_t piece;
        std::unique_ptr<Answer, UnmapAnswer> answer;
    };
    void wait_for_one();

    const size_t workers_;
    std::map<int, RunningWorker> running_; // by process id
    std::vector<WorkResult> results_;
};

} // namespace btflink::kernel
