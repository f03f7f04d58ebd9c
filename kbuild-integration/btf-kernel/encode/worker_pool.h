// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pieces of work in processes of their own: what one of them does to its process (memory, a crash)
// does nothing to the others, and all of them share what was in memory before.
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

/// Call work(i) for each i below `count` in one of up to `workers` processes that are forked for
/// it, and done(number) here as results come. Nobody else may run threads. A process that dies
/// makes its piece a failed one; another goes on. Errors: the system refuses processes or memory.
Result<std::vector<WorkResult>> run_workers(size_t count, unsigned workers,
                                            const std::function<WorkResult(size_t)> &work,
                                            const std::function<void(size_t)> &done);

} // namespace btflink::kernel
