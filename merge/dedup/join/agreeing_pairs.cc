// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Method.
//  1. Initially every node agrees with every group of its class. If neither reaches a forward
//     declaration, the sets of reachable conflicts decide, finally.
//  2. A pair disagrees if both sides define some slot, and the definitions have different classes
//     or are a pair that disagrees. When a pair starts to disagree, the nodes that use its node are
//     checked again. This ends with the largest fixed point, like partition refinement.
//
// Cost. Nodes, times the groups of their classes, times slots, times changes of the slots.
#include "merge/dedup/join/join_groups.h"

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

/// A node that has another node in a slot. In an ambiguous object the slot does not matter.
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

/// Do both define a slot, and differently?
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

constexpr uint32_t all_slots = UINT32_MAX;

bool slots_agree(PairFinder &finder, NodeId n, GroupId group, uint32_t slot)
{
    const SlotPairs slots(finder.conflicts, n, representative(group));
    if (!slots.comparable())
        return false;
    const bool one = slot != all_slots && !slots.are_paths();
    for (size_t i = one ? slot : 0; i < (one ? slot + 1 : slots.size()); ++i)
        if (targets_disagree(finder, slots.a(i), group, slots.b(i)))
            return false;
    return true;
}

/// Checks a slot in all pairs of a node that agree. Does any of them disagree now?
bool drop_disagreeing(PairFinder &finder, NodeId n, uint32_t slot)
{
    bool dropped = false;
    const bool may_reach_forward = finder.reachable.may_reach_forward(n);
    const std::vector<GroupId> &groups = finder.groups.of_class[finder.conflicts.nodes[n].cls];
    const std::span<PairState> states = finder.pairs.of(n);
    for (size_t i = 0; i < states.size(); ++i) {
        if (states[i] == PairState::disagrees || groups[i] == finder.groups.of[n])
            continue; // its own group: an equal node agreed, and still does
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
    std::vector<NodeId> changed, next;
    for (NodeId n : nodes)
        if (finder.conflicts.is_definition(n) && drop_disagreeing(finder, n, all_slots))
            changed.push_back(n);
    std::vector<bool> is_next(nodes.size());
    while (!changed.empty()) {
        for (NodeId n : changed)
            for (auto [user, slot] : uses[raw(n) - first]) {
                if (!drop_disagreeing(finder, user, slot) || is_next[raw(user) - first])
                    continue;
                is_next[raw(user) - first] = true;
                next.push_back(user);
            }
        for (NodeId n : next)
            is_next[raw(n) - first] = false;
        changed.swap(next);
        next.clear();
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
