// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the groups with which the nodes of an object agree.
#pragma once

#include "merge/dedup/join/join_groups.h"

namespace btflink::merge
{

/// Pairs the slots of two nodes of one class. In ambiguous objects, paths take the place of slots.
class SlotPairs
{
public:
    SlotPairs(const ConflictGraph &conflicts, NodeId a, NodeId b)
        : a_(side_of(conflicts, a)), b_(side_of(conflicts, b))
    {
    }

    /// False if one of the nodes has too many paths, or wrong hashes; it then equals only itself.
    bool comparable() const
    {
        if ((a_.paths && a_.paths->empty()) || (b_.paths && b_.paths->empty()))
            return false;
        return !a_.paths || !b_.paths || a_.paths->size() == b_.paths->size();
    }
    size_t size() const
    {
        const Paths *paths = a_.paths ? a_.paths : b_.paths;
        return paths ? paths->size() : a_.edges.size();
    }
    bool are_paths() const { return a_.paths || b_.paths; }
    /// The target of the i-th slot of each node.
    NodeId a(size_t i) const { return target(a_, b_, i); }
    NodeId b(size_t i) const { return target(b_, a_, i); }

private:
    struct Side {
        std::span<const NodeId> edges;
        const Paths *paths; // null if the object is not ambiguous
    };

    static Side side_of(const ConflictGraph &conflicts, NodeId n)
    {
        return {conflicts.edges_of(n), conflicts.paths[n].get()};
    }
    static NodeId target(const Side &side, const Side &other, size_t i)
    {
        if (side.paths)
            return (*side.paths)[i].target;
        return side.edges[other.paths ? raw((*other.paths)[i].slot) : i];
    }

    Side a_, b_;
};

/// Does a node of the joining object agree with a group of its class?
enum class PairState : uint8_t { disagrees, agrees, joined };

/// All pairs of a definition in one object and a group of its class.
struct AgreeingPairs {
    NodeId first_node;
    std::vector<size_t> begin;     // per node: its first pair; and the end
    std::vector<PairState> states; // a node's pairs are in the order of Groups::of_class

    std::span<PairState> of(NodeId n)
    {
        const size_t place = raw(n) - raw(first_node);
        return std::span(states).subspan(begin[place], begin[place + 1] - begin[place]);
    }
    PairState &at(NodeId n, uint32_t group_place)
    {
        return states[begin[raw(n) - raw(first_node)] + group_place];
    }
};

/// `nodes`: the nodes of one object.
AgreeingPairs find_agreeing_pairs(const ConflictGraph &conflicts,
                                  const ReachableConflicts &reachable, const Groups &groups,
                                  IdRange<NodeId> nodes);

} // namespace btflink::merge
