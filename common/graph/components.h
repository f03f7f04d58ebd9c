// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the strongly connected components of a graph, by Tarjan's algorithm.
#pragma once

#include "common/graph/post_order.h"

#include <algorithm>
#include <limits>

namespace btflink
{

/// for_successors(vertex, visit) calls visit(successor) for each successor. Returns the component
/// number of each vertex. A component is numbered after all components that it reaches.
template <typename ForSuccessors>
std::vector<uint32_t> strong_components(uint32_t count, ForSuccessors for_successors)
{
    constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> component(count, none), stack, pending;
    std::vector<uint32_t> low(count), order(count); // lowest order reached; order of entry
    std::vector<uint8_t> state(count, walk::fresh);
    uint32_t entered = 0, components = 0;
    auto state_of = [&](uint32_t vertex) -> uint8_t & { return state[vertex]; };
    auto enter = [&](uint32_t vertex, auto need) {
        low[vertex] = order[vertex] = entered++;
        pending.push_back(vertex);
        for_successors(vertex, need);
    };
    auto close = [&](uint32_t vertex) {
        for_successors(vertex, [&](uint32_t to) {
            if (component[to] == none)
                low[vertex] = std::min(low[vertex], low[to]);
        });
        if (low[vertex] != order[vertex])
            return;
        // Vertices entered since then that have no component yet reach this vertex.
        while (component[vertex] == none) {
            component[pending.back()] = components;
            pending.pop_back();
        }
        ++components;
    };
    for (uint32_t vertex = 0; vertex < count; ++vertex)
        post_order(vertex, state_of, stack, enter, close);
    return component;
}

} // namespace btflink
