// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The output of --stats: "name: value" lines, in the order in which they were added. Passes are
// also phases of the trace.
#pragma once

#include "common/io/trace.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace btflink::merge
{

class Stats
{
public:
    void add(std::string name, uint64_t value)
    {
        if (phase_)
            phase_->note(name, value);
        lines_.emplace_back(std::move(name), std::to_string(value));
    }
    /// Adds a value that is not a count: milliseconds, a ratio.
    void add_measure(std::string name, double value);
    /// Ends the current pass, if any, and begins this one. `name`: a literal.
    void begin_pass(const char *name);
    /// Ends the current pass and adds its time.
    void end_pass();
    std::string text() const;

private:
    using Clock = std::chrono::steady_clock;
    const char *pass_ = nullptr;
    Clock::time_point start_;
    std::unique_ptr<trace::Phase> phase_;
    std::vector<std::pair<std::string, std::string>> lines_;
};

} // namespace btflink::merge
