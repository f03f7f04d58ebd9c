// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs each piece of work in its own forked process. So a crash ends one piece and not the run, and
// all processes share the memory that they inherit and do not change.
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
    std::string text; // cut to 4,000 bytes
    // The process ended without a result. `failed` is then set, and `text` says how it ended.
    bool lost = false;
};

/// Several forked processes at a time. The calling process must have only one thread. Only one pool
/// of a program may have running processes, because a pool reaps any child process.
class WorkerPool
{
public:
    using Work = std::function<WorkResult()>;

    /// `workers`: how many processes may run at a time; not 0. Sets SIGCHLD to its default action.
    explicit WorkerPool(unsigned workers);
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;
    /// Ends all running processes, and waits for them.
    ~WorkerPool();

    /// Calls `work` in a new process, which inherits all open files. Waits while `workers`
    /// processes are running. If fork() fails, waits for a process of the pool to end, and tries
    /// again. Errors: shared memory cannot be mapped; fork() fails while the pool has no process.
    Result<void> add(const Work &work);
    /// Number of pieces that have ended.
    size_t ended() const { return results_.size() - running_.size(); }
    /// Waits for all running processes. Calls `look` after each one that ends, and perhaps more
    /// often. Returns the results in the order of add().
    std::vector<WorkResult> finish(const std::function<void()> &look);

private:
    /// The result of a process, in memory that it shares with its parent.
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
