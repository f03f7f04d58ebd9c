// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Partition refinement: the coarsest partition in which vertices of one block refer to vertices of
// the same blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace btflink
{

/// Splits blocks until no block splits. `block`: a uint32_t by vertex. Initially, vertices that may
/// be equal have equal numbers; in the end, blocks are numbered 0, 1, ... in the order of
/// `vertices`. `count`: the number of blocks, if they are numbered like this initially; otherwise
/// 0. append(vertex, key): appends the blocks to which the vertex refers. more(): returns false to
/// end the refinement early. Returns the number of blocks. A round takes time in proportion to the
/// keys; there are at most as many rounds as blocks.
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
