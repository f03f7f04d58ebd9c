// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Adjacency lists in two flat arrays (compressed sparse rows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace btflink
{

/// Lists of numbers by number.
struct Lists {
    std::vector<uint32_t> ends, items;

    size_t size() const { return ends.size(); }
    std::span<const uint32_t> operator[](uint32_t i) const
    {
        return {items.data() + begin(i), ends[i] - begin(i)};
    }
    /// Where in `items` a list begins.
    uint32_t begin(uint32_t i) const { return i ? ends[i - 1] : 0; }

    /// From (list, item) pairs that each() visits, twice; items keep their order.
    template <typename Each>
    static Lists make(size_t count, Each each)
    {
        Lists out;
        out.ends.assign(count, 0);
        each([&](uint32_t list, uint32_t) { ++out.ends[list]; });
        uint32_t total = 0;
        for (uint32_t &end : out.ends)
            total += std::exchange(end, total);
        out.items.resize(total);
        each([&](uint32_t list, uint32_t item) { out.items[out.ends[list]++] = item; });
        return out;
    }
};

} // namespace btflink
