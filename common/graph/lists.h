// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Adjacency lists in two flat arrays (compressed sparse rows).
#pragma once

#include "common/graph/ids.h"

#include <span>
#include <utility>
#include <vector>

namespace btflink
{

/// Lists of items, indexed by list number. Both may be ids (ids.h).
template <typename List = uint32_t, typename Item = uint32_t>
struct Lists {
    std::vector<uint32_t> ends;
    std::vector<Item> items;

    size_t size() const { return ends.size(); }
    std::span<const Item> operator[](List list) const
    {
        return {items.data() + begin(list), ends[place(list)] - begin(list)};
    }
    /// The position in `items` where a list begins.
    uint32_t begin(List list) const { return place(list) ? ends[place(list) - 1] : 0; }

    /// Builds the lists from (list, item) pairs. each() visits all pairs, and is called twice.
    /// Items keep their order.
    template <typename Each>
    static Lists make(size_t count, Each each)
    {
        Lists out;
        out.ends.assign(count, 0);
        each([&](List list, Item) { ++out.ends[place(list)]; });
        uint32_t total = 0;
        for (uint32_t &end : out.ends)
            total += std::exchange(end, total);
        out.items.resize(total);
        each([&](List list, Item item) { out.items[out.ends[place(list)]++] = item; });
        return out;
    }

private:
    static constexpr uint32_t place(List list) { return static_cast<uint32_t>(list); }
};

} // namespace btflink
