// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Graphs as adjacency lists, and algorithms on graphs: depth-first walk, strong components,
// peeling, partition refinement. The algorithms do not recurse, because a path may have as many
// vertices as the graph.
#pragma once

#include "common/graph/ids.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace btflink
{

/// Lists of items, indexed by list number, in two flat arrays (compressed sparse rows). `List` and
/// `Item` may be ids (ids.h).
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

    /// Builds `count` lists from (list, item) pairs. each(put) calls put(list, item) for each pair,
    /// and is called twice. Items of a list keep their order.
    template <typename Each>
    static Lists make(size_t count, Each each)
    {
        Lists out;
        out.ends.assign(count, 0);
        each([&](List list, Item) { ++out.ends[place(list)]; });
        uint32_t total = 0;
        for (uint32_t &end : out.ends) // now a count; becomes the position where the list begins
            total += std::exchange(end, total);
        out.items.resize(total);
        // Each item moves its list's position on; the last one moves it to the end.
        each([&](List list, Item item) { out.items[out.ends[place(list)]++] = item; });
        return out;
    }

private:
    static constexpr uint32_t place(List list) { return static_cast<uint32_t>(list); }
};

/// The state of a vertex in a walk: fresh until the walk expands it, then open until the walk
/// closes it, then done.
namespace walk
{
enum State : uint8_t { fresh, open, done };
}

/// Depth-first walk from `root` that closes a vertex after its successors. state(vertex): a
/// reference to the vertex's walk::State, a uint8_t that must not move during the walk.
/// expand(vertex, need) calls need(successor) for each successor. close(vertex) is called after
/// close() of all successors, except those that are open because of a cycle. `stack` must be empty,
/// and is empty again afterwards.
template <typename Vertex, typename State, typename Expand, typename Close>
void post_order(Vertex root, State state, std::vector<Vertex> &stack, Expand expand, Close close)
{
    if (state(root) == walk::done)
        return;
    stack.push_back(root);
    while (!stack.empty()) {
        Vertex at = stack.back();
        uint8_t &mine = state(at);
        if (mine == walk::fresh) {
            mine = walk::open;
            expand(at, [&](Vertex successor) {
                if (state(successor) == walk::fresh)
                    stack.push_back(successor);
            });
            if (stack.back() != at)
                continue;
        }
        stack.pop_back();
        if (mine == walk::open) { // another path may have closed `at`
            close(at);
            mine = walk::done;
        }
    }
}

/// The strongly connected components of a graph, by Tarjan's algorithm.
/// for_successors(vertex, visit) calls visit(successor) for each successor, and is called twice per
/// vertex. Returns the component number of each vertex. A component is numbered after all that it
/// reaches.
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
        // All vertices that were entered after this one, and have no component yet, reach it.
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

/// Partition refinement: splits blocks of vertices, no further than necessary, until the vertices
/// of each block refer to the same blocks. Returns the number of blocks.
///   Index   a VectorIndex (tables.h)
///   block   a uint32_t by vertex. Before: vertices that may be equal have equal numbers.
///           After: the vertex's block, numbered 0, 1, ... in the order of `vertices`.
///   count   the number of blocks, if they are already numbered in this way; otherwise 0
///   append  append(vertex, key) appends to `key` the blocks to which the vertex refers.
///   more    more() returns false to end the refinement before the next round. The blocks may then
///           be too coarse. If it ends before the first round, `block` does not change, and `count`
///           is returned.
/// A round takes time in proportion to the keys. There are at most n + 1 rounds if n is the result.
template <typename Index, typename Vertices, typename Blocks, typename Append, typename More>
size_t refine(const Vertices &vertices, Blocks &block, size_t count, Append append, More more)
{
    std::vector<uint32_t> next, key;
    for (size_t last = SIZE_MAX; count != last && more();) {
        Index keys;
        next.clear();
        for (auto v : vertices) {
            key.assign(1, block[v]);
            append(v, key);
            next.push_back(keys.add(key).first);
        }
        size_t i = 0;
        for (auto v : vertices)
            block[v] = next[i++];
        last = count;
        count = keys.size();
    }
    return count;
}

template <typename Index, typename Vertices, typename Blocks, typename Append>
size_t refine(const Vertices &vertices, Blocks &block, size_t count, Append append)
{
    return refine<Index>(vertices, block, count, append, [] { return true; });
}

} // namespace btflink
