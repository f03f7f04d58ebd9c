// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Measures the steps of an emit, for --stats and --time-trace.
#pragma once

#include "common/io/trace.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>

namespace btflink::emit
{

/// In order. The steps from `entries` to `assemble` are done per unit.
enum class Step : uint8_t {
    read,       // the file
    sections,   // ELF structures, decompression, checks of relocations
    units,      // their headers and first entries
    entries,    // DWARF
    types,      // entries to BTF
    variables,  // choice and addresses
    functions,  // instances and their parameters
    hashes,     // of types
    duplicates, // types that are equal
    assemble,   // blob and link trailer
    write,      // the new file
};
constexpr std::string_view step_names[] = {
    "read",      "sections", "units",      "entries",  "types", "variables",
    "functions", "hashes",   "duplicates", "assemble", "write",
};
constexpr size_t step_count = std::size(step_names);
static_assert(step_count == static_cast<size_t>(Step::write) + 1);

/// Wall time of each step in nanoseconds, summed over threads.
struct StepTimes {
    std::array<int64_t, step_count> ns{};

    void add(const StepTimes &other)
    {
        for (size_t i = 0; i < step_count; ++i)
            ns[i] += other.ns[i];
    }
};

class StepClock
{
public:
    /// `times` must outlive the clock. `detail`: appears in the trace, such as a file.
    explicit StepClock(StepTimes &times, std::string_view detail = {})
        : times_(times), detail_(detail)
    {
    }
    StepClock(const StepClock &) = delete;
    StepClock &operator=(const StepClock &) = delete;
    ~StepClock() { end(); }

    /// Ends the previous step, if any.
    void begin(Step step)
    {
        end();
        index_ = static_cast<size_t>(step);
        if (trace::on())
            phase_ = std::make_unique<trace::Phase>(step_names[index_], detail_);
        running_ = true;
        start_ = Clock::now();
    }
    void end()
    {
        if (!running_)
            return;
        auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
        times_.ns[index_] += spent.count();
        phase_.reset();
        running_ = false;
    }

private:
    using Clock = std::chrono::steady_clock;
    StepTimes &times_;
    std::string_view detail_;
    std::unique_ptr<trace::Phase> phase_;
    bool running_ = false;
    size_t index_ = 0;
    Clock::time_point start_;
};

} // namespace btflink::emit
