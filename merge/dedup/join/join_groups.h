// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Joins equal nodes of all objects into groups: the equivalence classes of the conflict graph.
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

/// The groups that result if objects join in one order.
struct Groups {
    IdVector<NodeId, GroupId> of; // none for forward declarations, and before a node joins
    IdVector<ClassId, std::vector<GroupId>> of_class; // oldest first
    IdVector<GroupId, uint32_t> place;                // position of a group in its list in of_class
    Resolutions resolutions;                          // each belongs to one group only
    IdVector<GroupId, bool> any_resolved;             // the group has resolutions
    size_t count = 0;
    bool had_choice = false; // a node agreed with several groups

    Groups(size_t nodes, size_t classes)
        : of(nodes, GroupId::none), of_class(classes), place(nodes), any_resolved(nodes)
    {
    }

    /// The group to which members of a group resolved a forward declaration; none if no member
    /// knows a definition.
    GroupId resolved(GroupId group, NodeId forward) const
    {
        auto found = resolutions.find({group, forward});
        return found == resolutions.end() ? GroupId::none : of[found->second];
    }
    /// The group that a slot of a group's representative leads to, given the slot's target; none if
    /// the slot is not resolved.
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

} // namespace btflink::merge
