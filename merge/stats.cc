// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Collects values and times, and prints them.
#include "merge/stats.h"

#include "common/result.h"

namespace btflink::merge
{

void Stats::add_measure(std::string name, double value)
{
    lines_.emplace_back(std::move(name), strf("%.1f", value));
}

void Stats::begin_pass(const char *name)
{
    end_pass();
    pass_ = name;
    if (trace::on())
        phase_ = std::make_unique<trace::Phase>(name);
    start_ = Clock::now();
}

void Stats::end_pass()
{
    if (!pass_)
        return;
    std::chrono::duration<double, std::milli> spent = Clock::now() - start_;
    add_measure("time_ms." + std::string(pass_), spent.count());
    phase_.reset();
    pass_ = nullptr;
}

std::string Stats::text() const
{
    std::string all;
    for (const auto &[name, value] : lines_)
        all += name + ": " + value + "\n";
    return all;
}

} // namespace btflink::merge
