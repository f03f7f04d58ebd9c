// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The output of --stats: "name: value" lines, in the order in which they were added. Passes are
// also phases of the trace.
#pragma once

#include "common/io/trace.h"
#include "common/result.h"

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
    /// Adds a value that is not a count, such as milliseconds.
    void add_measure(std::string name, double value)
    {
        lines_.emplace_back(std::move(name), strf("%.1f", value));
    }
    /// Ends the current pass, if any, and begins this one. `name`: a literal.
    void begin_pass(const char *name)
    {
        end_pass();
        pass_ = name;
        if (trace::on())
            phase_ = std::make_unique<trace::Phase>(name);
        start_ = Clock::now();
    }
    /// Ends the current pass and adds its time.
    void end_pass()
    {
        if (!pass_)
            return;
        std::chrono::duration<double, std::milli> spent = Clock::now() - start_;
        add_measure("time_ms." + std::string(pass_), spent.count());
        phase_.reset();
        pass_ = nullptr;
    }
    std::string text() const
    {
        std::string all;
        for (const auto &[name, value] : lines_)
            all += name + ": " + value + "\n";
        return all;
    }

private:
    using Clock = std::chrono::steady_clock;
    const char *pass_ = nullptr;
    Clock::time_point start_;
    std::unique_ptr<trace::Phase> phase_;
    std::vector<std::pair<std::string, std::string>> lines_;
};

} // namespace btflink::merge
