// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Joins the nodes of all objects into groups of nodes that agree. merge/dedup/README.md has an
// example.
//
// Problem. Some objects only declare a struct that other objects define. Two structs agree if
// nothing that both their objects define differs, any number of pointers away. A forward
// declaration may agree with several definitions, so agreement is not an equivalence relation. A
// choice is needed, which must make few groups, be reproducible, and not walk from every struct to
// every other.
//
// Method. Objects join in the order of join_order.cc. A group has a representative, the node that
// founded it; all members share the representative's references.
//  1. A node joins the group of an earlier node with the same class that reaches the same conflicts
//     and forward declarations. In most objects all nodes do; in ambiguous objects, none do.
//  2. Otherwise the candidates are the groups of the node's class. agreeing_pairs.cc finds those
//     that agree with the node, at any depth.
//  3. The other nodes are handled in id order. In an ambiguous object, a node joins the group of an
//     earlier equal node of this object. Otherwise it joins the newest group with which it agrees
//     and which it can join, and the nodes that it reaches join the corresponding groups. If a slot
//     leads to a forward declaration in the representative's object and to a definition in the
//     node's, the declaration is resolved to the definition. A node that cannot join any group
//     founds one.
// In an ambiguous object, where several nodes share a name, two paths of a node may end in two
// structs of one name, while the representative's paths end in one forward declaration. Each path
// alone agrees, but the declaration cannot be resolved to both structs. Then the node cannot join
// this group.
//
// If there are few nodes (few_nodes), objects also join in link order, and the order that makes
// fewer groups wins. But if a node agreed with several groups, fewer groups need not mean fewer
// types, because types between nodes, such as typedefs, count, too. Then, if nodes and types
// between nodes together are few, both orders are repeated with the oldest groups preferred, and
// split_conflicts.cc takes the best of the four alternatives. No node of an unmodified kernel has
// agreed with several groups.
//
// A base cannot be completed: its declarations always agree with every definition, and are never
// resolved. So members of a group whose representative is in a base may mean different types by one
// declaration. This does no harm: the group has the references of the base, and other types of the
// module keep the module's references.
//
// Invariant. A joined pair always agrees. A slot that both sides define leads to a joined pair. A
// slot that the representative only declares is resolved to the node's definition (not in a base).
// Only unresolved slots ever change. So a representative can stand for its group.
//
// Cost. Each node once per alternative. In addition the cost of agreeing_pairs.cc, for objects with
// a node that equals no earlier one. A conflict makes few groups per class, about as many as it has
// definitions. An attempt to join can fail only in ambiguous objects, or because of wrong hashes.
// It then costs the slots of all nodes that it reaches, and the next node may reach them again; so
// these slots are limited (most_failed_slots).
//
// Rejected. Partition refinement of all nodes, with unresolved slots that match anything, restarted
// whenever a slot is resolved: members then agree with the representative, but not with each other.
// A core struct with two definitions made five groups instead of two.
#include "merge/dedup/join/join_groups.h"

#include "common/io/trace.h"

#include <array>
#include <numeric>
#include <utility>

namespace btflink::merge
{

namespace
{

// Objects are joined in two orders if there are at most this many nodes. A kernel has a few
// thousand, and joining these again takes a hundredth of a second. Four alternatives also repeat
// all later steps, so they are made only if nodes and types between nodes together are at most this
// many.
constexpr size_t few_nodes = 20000;

// If the failed attempts of an alternative have looked at more slots than this, no further attempts
// are made for it. Each later node that equals no earlier one then founds a group, so types may
// remain twice. Only input that was made to exceed the limit does so.
constexpr size_t most_failed_slots = 1 << 23;

/// Which group a node tries to join first if it agrees with several.
enum class Preference { newest, oldest };

/// The state of joining in one order.
struct JoinState {
    const Sources &sources;
    const ConflictGraph &conflicts;
    const ReachableConflicts &reachable;
    Preference preference;
    IdVector<NodeId, NodeId> first_equal; // see find_first_equal()
    Groups groups;
    size_t failed_slots = 0; // slots that failed attempts have looked at
};

/// An object that joins. Its resolutions take effect after it has joined.
struct JoiningObject {
    AgreeingPairs pairs;
    Resolutions resolutions;
};

/// The consequences of joining a node to a group.
struct Attempt {
    std::vector<std::pair<NodeId, GroupId>> pairs; // the node, and those that it takes along
    Resolutions resolutions;
    size_t slots = 0; // looked at
};

/// For each definition, the first node in order of joining that is certainly equal: perhaps the
/// node itself. In an ambiguous object, only nodes of this object count.
IdVector<NodeId, NodeId> find_first_equal(const ConflictGraph &conflicts,
                                          const ReachableConflicts &reachable,
                                          const std::vector<uint32_t> &order)
{
    IdVector<NodeId, NodeId> out = reachable.canonical;
    VectorIndex keys; // {class, set}
    std::vector<NodeId> first;
    for (uint32_t s : order) {
        if (reachable.ambiguous[s])
            continue;
        for (NodeId n : conflicts.nodes_of(s)) {
            if (!conflicts.is_definition(n))
                continue;
            auto [number, added] =
                keys.add(std::array<uint32_t, 2>{raw(conflicts.nodes[n].cls), reachable.set_of[n]});
            if (added)
                first.push_back(n);
            out[n] = first[number];
        }
    }
    return out;
}

/// Step 1. Returns whether all definitions have joined.
bool join_equal(JoinState &joining, IdRange<NodeId> nodes)
{
    bool all = true;
    for (NodeId n : nodes) {
        if (!joining.conflicts.is_definition(n))
            continue;
        joining.groups.of[n] = joining.groups.of[joining.first_equal[n]];
        all &= joining.groups.of[n] != GroupId::none;
    }
    return all;
}

/// Records the definition to which the declaration is resolved if the attempt succeeds. Returns
/// false if the declaration already has a definition that may differ.
bool resolve_declaration(const JoinState &joining, const JoiningObject &object, Attempt &attempt,
                         GroupForward declaration, NodeId definition)
{
    auto earlier = object.resolutions.find(declaration);
    if (earlier == object.resolutions.end())
        earlier = attempt.resolutions.emplace(declaration, definition).first;
    return joining.first_equal[earlier->second] == joining.first_equal[definition];
}

/// Finds all consequences of the first pair. Returns false if its node cannot join.
bool find_consequences(const JoinState &joining, JoiningObject &object, Attempt &out)
{
    const ConflictGraph &conflicts = joining.conflicts;
    for (size_t next = 0; next < out.pairs.size(); ++next) {
        const auto [n, group] = out.pairs[next];
        const SlotPairs slots(conflicts, n, representative(group));
        out.slots += slots.size();
        for (size_t i = 0; i < slots.size(); ++i) {
            const NodeId mine = slots.a(i), its = slots.b(i);
            if (!conflicts.is_definition(mine) || its == NodeId::none)
                continue;
            const GroupId meant = joining.groups.meaning(conflicts, group, its);
            if (meant == GroupId::none) {
                if (!joining.sources.is_base(conflicts.nodes[its].source) &&
                    !resolve_declaration(joining, object, out, {group, its}, mine))
                    return false;
                continue;
            }
            // Nodes reached from agreeing nodes agree, unless hashes are wrong.
            if (conflicts.nodes[mine].cls != conflicts.class_of(meant))
                return false;
            PairState &state = object.pairs.at(mine, joining.groups.place[meant]);
            if (state == PairState::disagrees)
                return false;
            if (std::exchange(state, PairState::joined) == PairState::agrees)
                out.pairs.emplace_back(mine, meant);
        }
    }
    return true;
}

/// Joins a node, and the nodes without a group that it reaches by slots that lead to groups.
/// Returns false, and changes nothing but failed_slots, if the node cannot join.
bool try_to_join(JoinState &joining, JoiningObject &object, NodeId first, GroupId first_group)
{
    if (joining.failed_slots > most_failed_slots)
        return false;
    Groups &groups = joining.groups;
    Attempt attempt{{{first, first_group}}, {}, 0};
    object.pairs.at(first, groups.place[first_group]) = PairState::joined;
    const bool joins = find_consequences(joining, object, attempt);
    for (auto [n, group] : attempt.pairs)
        if (!joins)
            object.pairs.at(n, groups.place[group]) = PairState::agrees;
        else if (groups.of[n] == GroupId::none)
            groups.of[n] = group;
    if (joins)
        object.resolutions.merge(attempt.resolutions);
    else
        joining.failed_slots += attempt.slots;
    return joins;
}

void found_group(JoinState &joining, NodeId n)
{
    const GroupId group = group_founded_by(n);
    std::vector<GroupId> &groups = joining.groups.of_class[joining.conflicts.nodes[n].cls];
    joining.groups.of[n] = group;
    joining.groups.place[group] = static_cast<uint32_t>(groups.size());
    groups.push_back(group);
    ++joining.groups.count;
}

/// Step 3.
void join_or_found(JoinState &joining, JoiningObject &object, NodeId n)
{
    Groups &groups = joining.groups;
    if (GroupId known = groups.of[joining.first_equal[n]]; known != GroupId::none) {
        groups.of[n] = known; // an earlier node of this object is equal
        return;
    }
    std::vector<GroupId> candidates;
    const std::span<const PairState> states = object.pairs.of(n);
    for (size_t i = 0; i < states.size(); ++i)
        if (states[i] != PairState::disagrees)
            candidates.push_back(groups.of_class[joining.conflicts.nodes[n].cls][i]);
    if (joining.preference == Preference::newest)
        std::reverse(candidates.begin(), candidates.end());
    groups.had_choice |= candidates.size() > 1;
    for (GroupId group : candidates)
        if (try_to_join(joining, object, n, group))
            return;
    found_group(joining, n);
}

void join_object(JoinState &joining, IdRange<NodeId> nodes)
{
    if (join_equal(joining, nodes))
        return;
    Groups &groups = joining.groups;
    JoiningObject object{find_agreeing_pairs(joining.conflicts, joining.reachable, groups, nodes),
                         {}};
    for (NodeId n : nodes)
        if (joining.conflicts.is_definition(n) && groups.of[n] == GroupId::none)
            join_or_found(joining, object, n);
    for (const auto &[declaration, definition] : object.resolutions)
        groups.any_resolved[declaration.group] = true;
    groups.resolutions.merge(object.resolutions);
}

} // namespace

std::vector<Groups> join_groups(const Sources &sources, const ClassGraph &graph,
                                const ConflictGraph &conflicts, const ReachableConflicts &reachable)
{
    std::vector<Groups> alternatives;
    auto join_in = [&](const std::vector<uint32_t> &order, Preference preference) {
        trace::Phase phase("join_groups");
        JoinState joining{sources,
                          conflicts,
                          reachable,
                          preference,
                          find_first_equal(conflicts, reachable, order),
                          Groups(conflicts.nodes.size(), graph.size()),
                          0};
        for (uint32_t s : order)
            join_object(joining, conflicts.nodes_of(s));
        alternatives.push_back(std::move(joining.groups));
    };
    const std::vector<uint32_t> by_definitions = order_by_definitions(sources, conflicts);
    join_in(by_definitions, Preference::newest);
    if (conflicts.nodes.size() > few_nodes)
        return alternatives;
    std::vector<uint32_t> link_order(sources.list.size());
    std::iota(link_order.begin(), link_order.end(), 0);
    join_in(link_order, Preference::newest);
    const bool had_choice = alternatives[0].had_choice || alternatives[1].had_choice;
    if (had_choice && conflicts.nodes.size() + conflicts.between.size() <= few_nodes) {
        join_in(by_definitions, Preference::oldest);
        join_in(link_order, Preference::oldest);
        return alternatives;
    }
    const int worse = alternatives[0].count < alternatives[1].count ? 1 : 0;
    alternatives.erase(alternatives.begin() + worse);
    return alternatives;
}

} // namespace btflink::merge
