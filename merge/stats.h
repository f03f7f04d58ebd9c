// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What --stats prints: "name: value" lines in the order in which they were noted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
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
        lines_.emplace_back(std::move(name), std::to_string(value));
    }
    /// Note the time since the last pass ended, in milliseconds.
    void end_pass(std::string name);
    /// Add what another one noted; this one's time goes on.
    void append(Stats other)
    {
        std::move(other.lines_.begin(), other.lines_.end(), std::back_inserter(lines_));
    }
    std::string text() const;

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
    std::vector<std::pair<std::string, std::string>> lines_;
};

} // namespace btflink::merge
