// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Records the phases of a run for --time-trace, as a file for chrome://tracing or ui.perfetto.dev.
// A phase has a name, a thread, wall and processor time. The phases of a thread nest.
// A Phase that is constructed while no trace is recorded reads no clock and allocates nothing.
//
//     TRY(trace::start(path, "btf-merge"));   // first of all, to report a bad path early
//     { trace::Phase phase("load"); ... }
//     TRY(trace::write());
#pragma once

#include "common/result.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace btflink::trace
{

namespace internal
{
extern std::atomic<bool> recording;
} // namespace internal

/// Are phases recorded? For callers that would spend time on the name of a phase.
inline bool on()
{
    return internal::recording.load(std::memory_order_relaxed);
}

/// A phase lasts from its construction or next() to the following next(), end() or its destruction,
/// and must end on the thread on which it began. A phase that began while nothing was recorded
/// never appears.
class Phase
{
public:
    /// `detail`: what the phase works on, such as a file.
    explicit Phase(std::string_view name, std::string_view detail = {})
    {
        if (on())
            begin(name, detail);
    }
    Phase(const Phase &) = delete;
    Phase &operator=(const Phase &) = delete;
    ~Phase() { end(); }

    /// A number that the viewer shows with the phase.
    void note(std::string_view name, uint64_t value)
    {
        if (begun_)
            notes_.emplace_back(name, value);
    }
    /// Ends the phase, unless it has ended already.
    void end()
    {
        if (begun_)
            record();
    }
    /// Ends the phase and begins the next one, with the same detail, unless the phase has ended
    /// already.
    void next(std::string_view name)
    {
        if (begun_)
            begin(name, record());
    }

private:
    void begin(std::string_view name, std::string_view detail);
    std::string record(); // returns the detail

    bool begun_ = false;
    std::string name_, detail_;
    int64_t wall_ = 0, cpu_ = 0; // nanoseconds, read from clocks
    std::vector<std::pair<std::string, uint64_t>> notes_;
};

/// Starts recording, in place of any earlier recording. write() will write to `path`. `program`:
/// the name that the viewer shows for the process. Error: `path` cannot be written.
Result<void> start(std::string path, std::string program);

/// Ends the recording, and writes all phases that have ended. Error: the file cannot be written.
Result<void> write();

} // namespace btflink::trace
