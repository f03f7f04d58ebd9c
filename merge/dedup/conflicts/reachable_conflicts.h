// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The conflicts and forward declarations that each node reaches in its object.
#pragma once

#include "merge/dedup/conflicts/conflict_graph.h"

namespace btflink::merge
{

/// Nodes of one class that reach the same set are equal, unless their object is ambiguous.
struct ReachableConflicts {
    IdVector<NodeId, uint32_t> set_of;  // number of its set; none in ambiguous objects
    std::vector<bool> has_forward;      // per set: it has forward declarations
    std::vector<bool> ambiguous;        // per source: several nodes share a name
    IdVector<NodeId, NodeId> canonical; // in ambiguous objects: the lowest equal node

    /// May a forward declaration be reachable from the node?
    bool may_reach_forward(NodeId node) const
    {
        return set_of[node] == no_number || has_forward[set_of[node]];
    }
};

ReachableConflicts find_reachable_conflicts(const Sources &sources, const ClassGraph &graph,
                                            const ConflictGraph &conflicts, unsigned threads);

} // namespace btflink::merge
