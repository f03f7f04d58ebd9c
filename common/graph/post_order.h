// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Depth-first walk that closes a vertex after its successors. It keeps its own stack, because a
// path may have as many vertices as the graph.
#pragma once

#include <cstdint>
#include <vector>

namespace btflink
{

/// The state of a vertex in a walk: fresh until it is met, open until its successors are closed.
namespace walk
{
enum State : uint8_t { fresh, open, done };
}

/// Walks from `root`. state(vertex): a reference to its walk::State, which must not move during the
/// walk. expand(vertex, need) calls need(successor) for each successor. close(vertex) is called
/// after close() of all successors, except those that are open because of a cycle. `stack` is empty
/// before and after.
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
        if (mine == walk::open) { // another path may have closed it
            close(at);
            mine = walk::done;
        }
    }
}

} // namespace btflink
