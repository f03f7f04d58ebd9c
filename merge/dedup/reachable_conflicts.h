// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3b: what each node of the hot graph can see of its object.
#pragma once

#include "merge/dedup/conflict_graph.h"

namespace btflink::merge
{

/// Nodes of one class with equal views are the same: in an object that has one node per name, the
/// view tells all that is reached.
struct Views {
    std::vector<uint32_t> of;   // per node: the number of its view; none: its object is exact
    std::vector<bool> open;     // per view: there are holes in it
    std::vector<bool> exact;    // per source: it has several nodes of one name
    std::vector<uint32_t> twin; // per node of an exact object: the lowest node that is equal to it

    bool is_open(uint32_t node) const { return of[node] == none || open[of[node]]; }
};

Views make_views(const Sources &sources, const ClassGraph &graph, const HotGraph &hot,
                 unsigned threads);

} // namespace btflink::merge
