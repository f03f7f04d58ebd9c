// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/stats.h"

#include "common/result.h"

namespace btflink::merge
{

void Stats::end_pass(std::string name)
{
    Clock::time_point now = Clock::now();
    std::chrono::duration<double, std::milli> spent = now - start_;
    lines_.emplace_back("time_ms." + std::move(name), strf("%.1f", spent.count()));
    start_ = now;
}

std::string Stats::text() const
{
    std::string all;
    for (const auto &[name, value] : lines_)
        all += name + ": " + value + "\n";
    return all;
}

} // namespace btflink::merge
