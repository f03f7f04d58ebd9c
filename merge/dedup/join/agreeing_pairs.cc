// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the groups with which the nodes of a joining object agree.
//
// Method. A pair is a node and a group of the node's class. Its sides are the node and the group's
// representative.
//  1. A pair is decided at once if both sides are in unambiguous objects and cannot reach a forward
//     declaration: it agrees if both sides reach the same set of conflicts. All other pairs agree
//     at first.
//  2. A pair disagrees if both sides define some slot differently: the two definitions have
//     different classes, or are a pair that disagrees. It also disagrees if its sides have paths
//     that cannot be compared. When a pair starts to disagree, the users of its node are checked
//     again. This ends with the largest set of pairs that agree, as partition refinement ends with
//     the coarsest partition.
//
// Cost. Nodes, times the groups of their classes, times slots, times changes of the slots.
#include "merge/dedup/join/join_groups.h"

#include <deque>
#include <optional>

namespace btflink::merge
{

namespace
{

struct PairFinder {
    const ConflictGraph &conflicts;
    const ReachableConflicts &reachable;
    const Groups &groups;
    AgreeingPairs pairs;
};

/// Step 1.
AgreeingPairs first_pairs(const ConflictGraph &conflicts, const ReachableConflicts &reachable,
                          const Groups &groups, IdRange<NodeId> nodes)
{
    AgreeingPairs out{*nodes.begin(), {}, {}};
    for (NodeId n : nodes) {
        out.begin.push_back(out.states.size());
        if (!conflicts.is_definition(n))
            continue;
        for (GroupId group : groups.of_class[conflicts.nodes[n].cls]) {
            const NodeId other = representative(group);
            const bool agrees = reachable.may_reach_forward(n) ||
                                reachable.may_reach_forward(other) ||
                                reachable.set_of[n] == reachable.set_of[other];
            out.states.push_back(agrees ? PairState::agrees : PairState::disagrees);
        }
    }
    out.begin.push_back(out.states.size());
    return out;
}

/// A node that uses another node: a slot leads there. In an ambiguous object the slot does not
/// matter, because all paths are compared.
struct Use {
    NodeId user;
    uint32_t slot;
};

/// The uses of each node of the object.
Lists<uint32_t, Use> find_uses(const ConflictGraph &conflicts, IdRange<NodeId> nodes)
{
    const uint32_t first = raw(*nodes.begin());
    return Lists<uint32_t, Use>::make(nodes.size(), [&](auto put) {
        std::vector<NodeId> last_user(nodes.size(), NodeId::none);
        auto add = [&](NodeId target, Use use) {
            if (conflicts.is_definition(target) &&
                std::exchange(last_user[raw(target) - first], use.user) != use.user)
                put(raw(target) - first, use);
        };
        for (NodeId n : nodes) {
            const std::span edges = conflicts.edges_of(n);
            if (const Paths *paths = conflicts.paths[n].get())
                for (const Path &path : *paths)
                    add(path.target, {n, raw(path.slot)});
            else
                for (uint32_t slot = 0; slot < edges.size(); ++slot)
                    add(edges[slot], {n, slot});
        }
    });
}

/// Given the targets of a slot on both sides: do both define the slot, but differently?
bool targets_disagree(PairFinder &finder, NodeId mine, GroupId group, NodeId its)
{
    if (!finder.conflicts.is_definition(mine))
        return false;
    const GroupId meant = finder.groups.meaning(finder.conflicts, group, its);
    if (meant == GroupId::none)
        return false;
    return finder.conflicts.class_of(meant) != finder.conflicts.nodes[mine].cls ||
           finder.pairs.at(mine, finder.groups.place[meant]) == PairState::disagrees;
}

/// Compares the slot, or all slots if none is given. If a side has paths, all paths are compared.
bool slots_agree(PairFinder &finder, NodeId n, GroupId group, std::optional<uint32_t> slot)
{
    const SlotPairs slots(finder.conflicts, n, representative(group));
    if (!slots.comparable())
        return false;
    size_t begin = 0, end = slots.size();
    if (slot && !slots.are_paths()) {
        begin = *slot;
        end = begin + 1;
    }
    for (size_t i = begin; i < end; ++i)
        if (targets_disagree(finder, slots.a(i), group, slots.b(i)))
            return false;
    return true;
}

/// Compares the slot, or all slots, of each pair of the node that still agrees. Returns whether a
/// pair has started to disagree.
bool drop_disagreeing(PairFinder &finder, NodeId n, std::optional<uint32_t> slot)
{
    bool dropped = false;
    const bool may_reach_forward = finder.reachable.may_reach_forward(n);
    const std::vector<GroupId> &groups = finder.groups.of_class[finder.conflicts.nodes[n].cls];
    const std::span<PairState> states = finder.pairs.of(n);
    for (size_t i = 0; i < states.size(); ++i) {
        if (states[i] == PairState::disagrees)
            continue;
        if (groups[i] == finder.groups.of[n])
            continue; // the node has joined this group, because an equal node is in it
        if (!may_reach_forward && !finder.reachable.may_reach_forward(representative(groups[i])))
            continue; // their sets are equal
        if (!slots_agree(finder, n, groups[i], slot)) {
            states[i] = PairState::disagrees;
            dropped = true;
        }
    }
    return dropped;
}

/// Step 2.
void spread_disagreement(PairFinder &finder, IdRange<NodeId> nodes)
{
    const uint32_t first = raw(*nodes.begin());
    const Lists<uint32_t, Use> uses = find_uses(finder.conflicts, nodes);
    std::deque<NodeId> changed; // nodes whose users must be checked
    std::vector<bool> waits(nodes.size());
    auto check = [&](NodeId n, std::optional<uint32_t> slot) {
        if (drop_disagreeing(finder, n, slot) && !waits[raw(n) - first]) {
            waits[raw(n) - first] = true;
            changed.push_back(n);
        }
    };
    for (NodeId n : nodes)
        if (finder.conflicts.is_definition(n))
            check(n, std::nullopt);
    while (!changed.empty()) {
        const uint32_t next = raw(changed.front()) - first;
        changed.pop_front();
        waits[next] = false;
        for (auto [user, slot] : uses[next])
            check(user, slot);
    }
}

} // namespace

AgreeingPairs find_agreeing_pairs(const ConflictGraph &conflicts,
                                  const ReachableConflicts &reachable, const Groups &groups,
                                  IdRange<NodeId> nodes)
{
    PairFinder finder{conflicts, reachable, groups,
                      first_pairs(conflicts, reachable, groups, nodes)};
    spread_disagreement(finder, nodes);
    return std::move(finder.pairs);
}

} // namespace btflink::merge
