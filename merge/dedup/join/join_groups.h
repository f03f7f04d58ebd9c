// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Joins nodes that agree, of all objects, into groups. Each group becomes one type of the result.
#pragma once

#include "merge/dedup/conflicts/conflict_graph.h"

#include <unordered_map>

namespace btflink::merge
{

/// A forward declaration in the object of a group's representative.
struct GroupForward {
    GroupId group;
    NodeId forward;

    bool operator==(const GroupForward &) const = default;
    struct Hash {
        size_t operator()(const GroupForward &f) const
        {
            return (uint64_t{raw(f.group)} << 32 | raw(f.forward)) * 0x9e3779b97f4a7c15;
        }
    };
};

/// Forward declarations, and the definitions in other objects to which members resolved them.
using Resolutions = std::unordered_map<GroupForward, NodeId, GroupForward::Hash>;

/// One alternative: the groups that result from an order of the objects and a preference.
struct Groups {
    IdVector<NodeId, GroupId> of; // none for forward declarations, and before a node joins
    IdVector<ClassId, std::vector<GroupId>> of_class; // oldest first
    IdVector<GroupId, uint32_t> place;                // position of a group in its list in of_class
    Resolutions resolutions;
    IdVector<GroupId, bool> any_resolved; // the group has resolutions
    size_t count = 0;
    bool had_choice = false; // a node agreed with several groups

    Groups(size_t nodes, size_t classes)
        : of(nodes, GroupId::none), of_class(classes), place(nodes), any_resolved(nodes)
    {
    }

    /// The group to which members of a group resolved a forward declaration; none if they did not.
    GroupId resolved(GroupId group, NodeId forward) const
    {
        auto found = resolutions.find({group, forward});
        return found == resolutions.end() ? GroupId::none : of[found->second];
    }
    /// The group to which a slot of a group's representative leads; none if `target`, the slot's
    /// target, is none or a declaration that is not resolved.
    GroupId meaning(const ConflictGraph &conflicts, GroupId group, NodeId target) const
    {
        if (target == NodeId::none)
            return GroupId::none;
        if (!conflicts.nodes[target].is_forward())
            return of[target];
        return any_resolved[group] ? resolved(group, target) : GroupId::none;
    }
};

/// The alternatives of joining, at least one. All are right; the best leaves the fewest types.
std::vector<Groups> join_groups(const Sources &sources, const ClassGraph &graph,
                                const ConflictGraph &conflicts,
                                const ReachableConflicts &reachable);

/// An order of the sources, a base first, in which those with the same definitions of conflicting
/// names are neighbours (join_order.cc).
std::vector<uint32_t> order_by_definitions(const Sources &sources, const ConflictGraph &conflicts);

// agreeing_pairs.cc: finds the groups with which the nodes of an object agree.

/// Pairs the slots of two nodes of one class. In ambiguous objects, paths take the place of slots.
class SlotPairs
{
public:
    SlotPairs(const ConflictGraph &conflicts, NodeId a, NodeId b)
        : a_(side_of(conflicts, a)), b_(side_of(conflicts, b))
    {
    }

    /// False if both nodes have paths, but not equally many, or if one of them has an empty list of
    /// paths and so equals no other node.
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
    /// a(i), b(i): the target of the i-th slot or path of the first node, and of the second.
    NodeId a(size_t i) const { return target(a_, b_, i); }
    NodeId b(size_t i) const { return target(b_, a_, i); }

private:
    struct Side {
        std::span<const NodeId> edges;
        const Paths *paths; // null: see ConflictGraph::paths
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
