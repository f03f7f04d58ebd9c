// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups of equal nodes: the equivalence classes of the conflict graph.
#pragma once

#include "merge/dedup/conflicts/reachable_conflicts.h"

#include <unordered_map>

namespace btflink::merge
{

/// What a node joins that agrees with several groups.
enum class Preference { newest, oldest };

class Groups
{
public:
    /// `order`: of the sources.
    Groups(const Sources &sources, const ClassGraph &graph, const ConflictGraph &conflicts,
           const ReachableConflicts &reachable, const std::vector<uint32_t> &order,
           Preference preference);

    /// How many there are.
    size_t count() const { return made_.count; }
    /// Has a node agreed with several?
    bool had_choice() const { return made_.had_choice; }
    /// The group of a node that is no forward declaration.
    GroupId of(NodeId node) const { return made_.group[node]; }
    /// The groups of all definitions of a name, lowest first.
    const std::vector<GroupId> &of_name(NameId name) const { return by_name_[name]; }
    /// The group that members of a group resolved a forward declaration of its representative to;
    /// none: none of them knows a definition. In other groups of the same object it may resolve to
    /// another definition.
    GroupId resolved(GroupId group, NodeId forward) const { return made_.resolved(group, forward); }
    /// Has any forward declaration of the representative been resolved?
    bool any_resolved(GroupId group) const { return made_.any_resolved[group]; }
    /// The group that a slot of a group leads to; none: it is not resolved. If paths of an
    /// ambiguous object disagree, the first that is resolved.
    GroupId at_slot(GroupId group, SlotId slot) const;
    /// The most rounds that an object took.
    uint64_t rounds() const { return made_.rounds; }

private:
    class Joiner;
    /// A forward declaration as a group sees it.
    using Forward = std::pair<GroupId, NodeId>;
    struct ForwardHash {
        size_t operator()(const Forward &f) const
        {
            return (uint64_t{raw(f.first)} << 32 | raw(f.second)) * 0x9e3779b97f4a7c15;
        }
    };

    using Resolutions = std::unordered_map<Forward, NodeId, ForwardHash>;
    /// The result of joining in one order.
    struct Joined {
        IdVector<NodeId, GroupId> group;
        IdVector<ClassId, std::vector<GroupId>> groups;
        size_t count = 0; // of groups
        bool had_choice = false;
        Resolutions resolutions; // the nodes that they stand for
        IdVector<GroupId, bool> any_resolved;
        uint64_t rounds = 0;

        GroupId resolved(GroupId of_group, NodeId forward) const
        {
            auto found = resolutions.find({of_group, forward});
            return found == resolutions.end() ? GroupId::none : group[found->second];
        }
        /// The group that the target of a slot of a group's representative is; none: not resolved.
        GroupId meaning(const ConflictGraph &conflicts, GroupId of_group, NodeId target) const
        {
            if (target == NodeId::none)
                return GroupId::none;
            if (!conflicts.nodes[target].is_forward())
                return group[target];
            return any_resolved[of_group] ? resolved(of_group, target) : GroupId::none;
        }
    };

    const ConflictGraph &conflicts_;
    Joined made_;
    IdVector<NameId, std::vector<GroupId>> by_name_;
};

/// At least one. If there are several, each is right, and the one that leaves the fewest types is
/// the best.
std::vector<Groups> join_groups(const Sources &sources, const ClassGraph &graph,
                                const ConflictGraph &conflicts,
                                const ReachableConflicts &reachable);

} // namespace btflink::merge
