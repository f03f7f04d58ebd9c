// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Depth-first walk that closes a vertex after its successors. It keeps its own stack: chains may be
// as long as there are vertices.
#pragma once

#include <cstdint>
#include <vector>

namespace btflink
{

/// State of a vertex in a walk: fresh before it was met, open until its successors are closed.
namespace walk
{
enum State : uint8_t { fresh, open, done };
}

/// Walk from `root`. state(vertex): where its walk::State is; it does not move meanwhile.
/// expand(vertex, need) calls need(successor) for each successor. close(vertex) comes after the
/// close() of all of these, except where a cycle leads back to a vertex that is open. `stack` is
/// empty before and after.
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
        if (mine == walk::open) { // not closed by way of another path meanwhile
            close(at);
            mine = walk::done;
        }
    }
}

} // namespace btflink
