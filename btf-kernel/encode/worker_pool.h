// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs pieces of work in separate processes. What one does to its process (memory, a crash) does
// not affect the others, and all share what was in memory before.
#pragma once

#include "common/io/fd.h"
#include "common/result.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace btflink::kernel
{

/// What a process is given.
struct Piece {
    size_t number = 0; // in the order of add()
    std::string name;  // up to 4,096 bytes
    int file = -1;     // a file that is open in the process; -1: none
};

struct WorkResult {
    enum class State : uint8_t { waiting, running, done, skipped, failed };
    State state = State::waiting;
    std::string text; // what was said, cut to 500 bytes
};

/// Up to `workers` forked processes that call `work` for one piece after the other. If one dies,
/// its piece has failed, and another process goes on. No other threads may be running. Once at a
/// time in a process, as it waits for all children.
class WorkerPool
{
public:
    using Work = std::function<WorkResult(const Piece &)>;

    WorkerPool(unsigned workers, Work work) : workers_(workers), work_(std::move(work)) {}
    WorkerPool(const WorkerPool &) = delete;
    WorkerPool &operator=(const WorkerPool &) = delete;
    /// Ends what still runs.
    ~WorkerPool();

    /// Give a piece to a process; `file` may be closed afterwards. Waits while there are more than
    /// two for each process. Errors: the system refuses a process; processes end as soon as they
    /// are started.
    Result<void> add(const std::string &name, int file = -1);
    /// Pieces that have ended.
    size_t ended() const { return ended_; }
    /// Wait for the rest, and call `look` now and then; results by number.
    Result<std::vector<WorkResult>> finish(const std::function<void()> &look);

private:
    Result<void> open();
    Result<void> start_one();
    Result<void> fill_up();
    [[noreturn]] void be_worker(int parent);
    bool read_message();
    bool has_waiting() const;
    void look_for_ends();
    Result<void> wait_a_little();
    size_t under_way() const { return results_.size() - ended_; }

    const unsigned workers_;
    const Work work_;
    Fd pieces_in_, pieces_out_, answers_in_, answers_out_; // "in": what is written to
    std::map<int, size_t> alive_; // processes, and the piece that each is at; SIZE_MAX: none
    std::vector<WorkResult> results_;
    size_t ended_ = 0;
    size_t useless_ = 0; // ends of processes since one began a piece
    size_t lost_ = 0;    // pieces that may have gone with a process that had not said so
};

} // namespace btflink::kernel
