// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Removes the part of a graph that does not reach a cycle.
#pragma once

#include "common/graph/lists.h"

namespace btflink
{

/// Removes vertices without successors until every remaining vertex has one, and therefore reaches
/// a cycle. for_edges(put) calls put(successor, vertex) for each edge, and is called twice. Returns
/// the number of remaining successors by vertex; 0 if the vertex was removed.
template <typename ForEdges>
std::vector<uint32_t> peel(size_t count, ForEdges for_edges)
{
    const Lists<> users = Lists<>::make(count, for_edges);
    std::vector<uint32_t> left(count), ready;
    for (uint32_t user : users.items)
        ++left[user];
    for (uint32_t v = 0; v < count; ++v)
        if (left[v] == 0)
            ready.push_back(v);
    while (!ready.empty()) {
        uint32_t v = ready.back();
        ready.pop_back();
        for (uint32_t user : users[v])
            if (--left[user] == 0)
                ready.push_back(user);
    }
    return left;
}

} // namespace btflink
