// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs pieces of work in separate processes. What one does to its process (memory, a crash) does
// not affect the others, and all share what was in memory before.
#pragma once

#include "common/result.h"

#include <functional>
#include <string>
#include <vector>

namespace btflink::kernel
{

struct WorkResult {
    enum class State : uint8_t { waiting, running, done, skipped, failed };
    State state = State::waiting;
    std::string text; // what was said, cut to 500 bytes
};

/// Call work(i) for each i below `count` in one of up to `workers` forked processes, and
/// done(number) in this process as results arrive. No other threads may be running. If a process
/// dies, its piece has failed, and another process continues. Errors: the system refuses processes
/// or memory.
Result<std::vector<WorkResult>> run_workers(size_t count, unsigned workers,
                                            const std::function<WorkResult(size_t)> &work,
                                            const std::function<void(size_t)> &done);

} // namespace btflink::kernel
