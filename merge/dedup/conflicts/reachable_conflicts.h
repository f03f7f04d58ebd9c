// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which conflicts and forward declarations each node reaches in its object.
#pragma once

#include "merge/dedup/conflicts/conflict_graph.h"

namespace btflink::merge
{

/// Nodes of one class that reach the same set are equal, unless their object is ambiguous.
struct ReachableConflicts {
    IdVector<NodeId, uint32_t> set_of;  // number of its set; none: its object is ambiguous
    std::vector<bool> has_forward;      // per set: there are forward declarations in it
    std::vector<bool> ambiguous;        // per source: it has several nodes of one name
    IdVector<NodeId, NodeId> canonical; // of an ambiguous object: the lowest equal node

    /// May a forward declaration be reachable from the node?
    bool may_reach_forward(NodeId node) const
    {
        return set_of[node] == no_number || has_forward[set_of[node]];
    }
};

ReachableConflicts find_reachable_conflicts(const Sources &sources, const ClassGraph &graph,
                                            const ConflictGraph &conflicts, unsigned threads);

} // namespace btflink::merge
