// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Joins equal nodes of all objects into groups, object by object. README.md draws an example.
//
// Problem. An object may only declare a struct that another one defines. Two structs are equal if
// nothing that both objects define differs, any number of pointers away. A forward declaration may
// stand for each of several definitions, so this is no equivalence relation. A choice is needed; it
// must make few groups, be reproducible, and not walk from every struct to every other.
//
// Method. Objects join in the order of join_order.cc. A group has a representative, a node of an
// earlier object; its members share its references. A node joins the group of an earlier node with
// the same class and the same set of reachable conflicts. For other nodes the candidates are the
// groups of their class:
//  1. All pairs (node, candidate) are taken to agree. A pair disagrees if both define some slot,
//     and the definitions are of different classes or are a pair that disagrees.
//  2. Disagreement spreads from slots to their users, in rounds, until nothing changes. The pairs
//     that remain agree at any depth. This is the largest fixed point, as in partition refinement.
//  3. In id order, a node joins the newest or the oldest group that it agrees with. Nodes that it
//     reaches join the groups reached in step, and forward declarations of the representative that
//     the node defines are resolved to its definitions. If no group agrees, the node founds one.
// In an ambiguous object (reachable_conflicts.cc) two paths may end in two structs of one name
// where the representative has one forward declaration for both. Each path alone agrees, but the
// declaration cannot be resolved to both. So joining is tried, and undone.
//
// If there are few nodes, they join in link order as well, and the order with fewer groups wins. If
// a node agreed with several groups, which no clean kernel has shown, the types between nodes
// decide, such as typedefs: few join in four ways, and split_conflicts.cc takes the one with the
// fewest types.
//
// A base cannot be completed: its declarations agree with every definition, always, and are never
// resolved. So members of a group with a base's representative may mean different things by one
// declaration. This does no harm: the references of the group are the base's, and the module's
// other types keep what the module knows.
//
// Invariant. A pair that was followed when a node joined stays in agreement: slots that both
// defined were equal, slots that the representative did not define are resolved to the node's, and
// only unresolved slots ever change. So a representative can stand for its group.
//
// Cost. Objects whose nodes all have known sets need no pairs; these are most. Others: their nodes,
// times the groups of their classes, times slots, times rounds. A conflict makes few groups per
// class, about as many as it has definitions.
//
// Rejected. Partition refinement of all nodes, with unresolved slots that match anything, started
// anew whenever one is resolved: members then agree with the representative, but not with each
// other. A core struct with two definitions made five groups where two would do.
#include "merge/dedup/join/join_groups.h"

#include "common/io/trace.h"
#include "merge/dedup/join/join_order.h"

#include <array>
#include <numeric>

namespace btflink::merge
{

namespace
{

// Joining this many twice takes a hundredth of a second. A kernel has a few thousand.
constexpr size_t few_nodes = 20000;
// With the types between them; all that follows is done for each way.
constexpr size_t few_for_ways = 20000;

} // namespace

class Groups::Joiner
{
public:
    Joiner(const Sources &sources, const ConflictGraph &conflicts,
           const ReachableConflicts &reachable, Preference preference, size_t classes, Joined &out)
        : sources_(sources), conflicts_(conflicts), reachable_(reachable), preference_(preference),
          out_(out), index_(conflicts.nodes.size()), block_(conflicts.nodes.size()),
          candidates_(classes)
    {
        out.group.assign(conflicts.nodes.size(), GroupId::none);
        out.groups.resize(classes);
        out.any_resolved.resize(conflicts.nodes.size());
    }

    void run(const std::vector<uint32_t> &order)
    {
        trace::Phase phase("join_groups");
        for (uint32_t s : order)
            join(s);
    }

private:
    /// What was found out about a pair.
    enum : uint8_t { disagreeing, agreeing, followed };
    /// What a slot of a representative means: a group, as its class and its place there. The class
    /// is none if it is not resolved.
    struct Meaning {
        ClassId cls;
        uint32_t index;
    };
    /// A slot of a node of the object that joins, and the node there, which is a definition: its
    /// class, its place, and where its pairs begin.
    struct OwnSlot {
        SlotId slot;
        ClassId cls;
        uint32_t place;
        uint32_t first;
    };
    /// A group as nodes of its class see it; what there is to know, one beside the other.
    struct Candidate {
        GroupId group;
        size_t block; // as in block_
        bool has_paths;
        bool may_reach_forward;
    };
    struct NewResolution {
        GroupId group;
        NodeId forward, node;
    };

    /// The place of a node among those of the object that joins.
    uint32_t place_of(NodeId n) const { return raw(n) - begin_; }

    GroupId meaning(GroupId group, NodeId target) const
    {
        return out_.meaning(conflicts_, group, target);
    }

    /// How many slots a node has to compare, and where the i-th leads.
    size_t slots_of(NodeId n) const
    {
        return conflicts_.paths[n] ? conflicts_.paths[n]->size() : conflicts_.edges_of(n).size();
    }
    NodeId target(NodeId n, size_t i) const
    {
        return conflicts_.paths[n] ? (*conflicts_.paths[n])[i].target
                                   : conflicts_.edges[conflicts_.edge_begin[n] + i];
    }

    /// Visit the slots of a node and a representative of one class: visit(node's target, number of
    /// the representative's slot), until it returns false. False, too, if the two cannot be
    /// compared.
    template <typename Visit>
    bool for_slots(NodeId n, GroupId group, Visit visit) const
    {
        const Paths *mine = conflicts_.paths[n].get();
        const Paths *its = conflicts_.paths[representative(group)].get();
        if ((mine && mine->empty()) || (its && its->empty()))
            return false;
        // Nodes of one class have the same paths.
        if (mine && its && its->size() != mine->size())
            return false;
        const NodeId *edges = conflicts_.edges.data() + conflicts_.edge_begin[n];
        size_t count = its ? its->size() : slots_of(n);
        for (size_t i = 0; i < count; ++i)
            if (!visit(mine ? (*mine)[i].target : edges[its ? raw((*its)[i].slot) : i],
                       mine && !its ? raw((*mine)[i].slot) : i))
                return false;
        return true;
    }

    bool is_defined(NodeId target) const
    {
        return target != NodeId::none && !conflicts_.nodes[target].is_forward();
    }

    uint8_t &pair(NodeId n, GroupId group) { return agree_[first_[place_of(n)] + index_[group]]; }

    /// Does what a representative's slot means fit a definition of that class, whose pairs begin at
    /// `first`?
    bool fits(const Meaning &its, ClassId cls, uint32_t first) const
    {
        return its.cls == ClassId::none ||
               (its.cls == cls && agree_[first + its.index] != disagreeing);
    }

    /// `slots`: what to compare of a node without paths.
    bool agrees(NodeId n, const Candidate &other, std::span<const OwnSlot> slots) const
    {
        const Meaning *its = meanings_.data() + other.block;
        if (!other.has_paths && !conflicts_.paths[n]) // nearly all: the same, faster
            return std::all_of(slots.begin(), slots.end(), [&](const OwnSlot &own) {
                return fits(its[raw(own.slot)], own.cls, own.first);
            });
        return for_slots(n, other.group, [&](NodeId t, size_t i) {
            return !is_defined(t) || fits(its[i], conflicts_.nodes[t].cls, first_[place_of(t)]);
        });
    }

    /// What a representative's slots mean from here on.
    void note(GroupId group)
    {
        for (size_t i = 0; i < slots_of(representative(group)); ++i) {
            GroupId m = meaning(group, target(representative(group), i));
            meanings_[block_[group] + i] =
                m == GroupId::none ? Meaning{ClassId::none, 0} : Meaning{class_of(m), index_[m]};
        }
    }

    ClassId class_of(GroupId group) const { return conflicts_.nodes[representative(group)].cls; }

    void join(size_t s)
    {
        nodes_ = conflicts_.nodes_of(s);
        begin_ = raw(conflicts_.node_begin[s]);
        ambiguous_ = reachable_.ambiguous[s];
        if (join_by_sets())
            return;
        take_pairs();
        collect_slots();
        spread_disagreement();
        for (NodeId n : nodes_)
            if (!conflicts_.nodes[n].is_forward() && out_.group[n] == GroupId::none)
                place(n);
        note_changes();
    }

    /// Nodes whose class and set an earlier node had join its group. Returns whether all have one.
    bool join_by_sets()
    {
        key_of_.assign(nodes_.size(), no_number);
        bool all = true;
        for (NodeId n : nodes_) {
            if (conflicts_.nodes[n].is_forward())
                continue;
            GroupId joined = GroupId::none;
            if (!ambiguous_) {
                auto [number, added] = keys_.add(
                    std::array<uint32_t, 2>{raw(conflicts_.nodes[n].cls), reachable_.set_of[n]});
                if (added)
                    first_with_.push_back(n);
                key_of_[place_of(n)] = number;
                joined = out_.group[first_with_[number]];
            }
            out_.group[n] = joined;
            all &= joined != GroupId::none;
        }
        return all;
    }

    /// What was founded and resolved counts from the next object on.
    void note_changes()
    {
        for (auto [group, forward, node] : new_resolutions_) {
            out_.resolutions.emplace(std::pair(group, forward), node);
            if (changed_.empty() || changed_.back() != group)
                changed_.push_back(group);
            out_.any_resolved[group] = true;
        }
        for (GroupId group : changed_)
            note(group);
        changed_.clear();
        new_resolutions_.clear();
        resolved_here_.clear();
    }

    /// Step 1: all pairs agree, except where the sets of reachable conflicts tell otherwise.
    void take_pairs()
    {
        first_.assign(nodes_.size(), 0);
        agree_.clear();
        for (NodeId n : nodes_) {
            first_[place_of(n)] = static_cast<uint32_t>(agree_.size());
            if (conflicts_.nodes[n].is_forward())
                continue;
            for (const Candidate &other : candidates_[conflicts_.nodes[n].cls])
                agree_.push_back(reachable_.may_reach_forward(n) || other.may_reach_forward ||
                                 reachable_.set_of[n] ==
                                     reachable_.set_of[representative(other.group)]);
        }
    }

    /// What the nodes without paths have in their slots, and for each node who has it in a slot.
    void collect_slots()
    {
        own_.clear();
        own_begin_.assign(1, 0);
        for (NodeId n : nodes_) {
            uint32_t slot = 0;
            if (!conflicts_.paths[n])
                for (NodeId t : conflicts_.edges_of(n)) {
                    if (is_defined(t))
                        own_.push_back({SlotId{slot}, conflicts_.nodes[t].cls, place_of(t),
                                        first_[place_of(t)]});
                    ++slot;
                }
            own_begin_.push_back(own_.size());
        }
        users_ = Lists<uint32_t, NodeId>::make(nodes_.size(), [&](auto put) {
            for (NodeId n : nodes_) {
                for (const OwnSlot &own : own_slots(n))
                    put(own.place, n);
                if (conflicts_.paths[n])
                    for (const Path &p : *conflicts_.paths[n])
                        if (is_defined(p.target))
                            put(place_of(p.target), n);
            }
        });
    }

    std::span<const OwnSlot> own_slots(NodeId n) const
    {
        return std::span(own_).subspan(own_begin_[place_of(n)],
                                       own_begin_[place_of(n) + 1] - own_begin_[place_of(n)]);
    }

    /// Step 2: disagreement spreads to users, in rounds. Another turn of a node looks only at slots
    /// of which a pair has changed since its last: these are few. Time is counted in turns.
    void spread_disagreement()
    {
        const uint32_t count = nodes_.size();
        std::vector<uint32_t> last_turn(count), last_change(count);
        std::vector<bool> queued(count, true);
        std::vector<NodeId> dirty, next;
        for (NodeId n : nodes_)
            if (!conflicts_.nodes[n].is_forward())
                dirty.push_back(n);
        std::vector<OwnSlot> slots;
        uint32_t now = 0;
        uint64_t rounds = 0;
        for (; !dirty.empty(); dirty.swap(next), next.clear()) {
            ++rounds;
            for (NodeId n : dirty) {
                queued[place_of(n)] = false; // what changes from here on, its turn has not seen
                slots.clear();
                for (const OwnSlot &own : own_slots(n))
                    if (last_change[own.place] >= last_turn[place_of(n)])
                        slots.push_back(own);
                last_turn[place_of(n)] = ++now;
                if (!compare_with_candidates(n, slots))
                    continue;
                last_change[place_of(n)] = now;
                for (NodeId user : users_[place_of(n)])
                    if (!queued[place_of(user)]) {
                        queued[place_of(user)] = true;
                        next.push_back(user);
                    }
            }
        }
        out_.rounds = std::max(out_.rounds, rounds);
    }

    /// Does a pair of the node that agreed so far disagree, as `slots` show?
    bool compare_with_candidates(NodeId n, std::span<const OwnSlot> slots)
    {
        bool changed = false;
        const bool may_reach_forward = reachable_.may_reach_forward(n);
        uint8_t *agree = agree_.data() + first_[place_of(n)];
        for (const Candidate &other : candidates_[conflicts_.nodes[n].cls]) {
            // Pairs that reach no forward declaration have equal sets, and always agree.
            if (*agree != disagreeing && (may_reach_forward || other.may_reach_forward) &&
                !agrees(n, other, slots)) {
                *agree = disagreeing;
                changed = true;
            }
            ++agree;
        }
        return changed;
    }

    /// Join a group, or found one.
    void place(NodeId n)
    {
        uint32_t key = key_of_[place_of(n)];
        NodeId same = key == no_number ? reachable_.canonical[n] : first_with_[key];
        if (out_.group[same] != GroupId::none) {
            out_.group[n] = out_.group[same];
            return;
        }
        auto &groups = out_.groups[conflicts_.nodes[n].cls];
        const uint32_t next = place_of(n) + 1;
        const size_t end = next < nodes_.size() ? first_[next] : agree_.size();
        const size_t known = end - first_[place_of(n)];
        size_t agree = 0;
        for (size_t i = 0; i < known; ++i)
            agree += pair(n, groups[i]) != disagreeing;
        out_.had_choice |= agree > 1;
        for (size_t i = 0; agree && i < known; ++i) {
            GroupId g = groups[preference_ == Preference::oldest ? i : known - 1 - i];
            if (pair(n, g) != disagreeing && follow(n, g))
                return;
        }
        const GroupId own = group_founded_by(n);
        out_.group[n] = own;
        index_[own] = static_cast<uint32_t>(groups.size());
        groups.push_back(own);
        block_[own] = meanings_.size();
        candidates_[conflicts_.nodes[n].cls].push_back(
            {own, block_[own], conflicts_.paths[n] != nullptr, reachable_.may_reach_forward(n)});
        meanings_.resize(meanings_.size() + slots_of(n));
        changed_.push_back(own);
        ++out_.count;
    }

    /// What `n` and the group reach in step joins, and resolves forward declarations. False: one of
    /// these would have to resolve to two definitions; nothing was done.
    bool follow(NodeId n, GroupId group)
    {
        visited_.clear();
        const size_t resolved_before = new_resolutions_.size();
        visit(n, group);
        bool fits = true;
        for (size_t next = 0; fits && next < visited_.size(); ++next) {
            const auto [m, last] = visited_[next];
            const auto g = last; // a binding cannot be captured
            for_slots(m, g, [&](NodeId t, size_t i) {
                if (!is_defined(t))
                    return true;
                NodeId u = target(representative(g), i);
                GroupId other = meaning(g, u);
                if (other != GroupId::none && conflicts_.nodes[t].cls != class_of(other))
                    fits = false; // the stated hashes are false
                else if (other != GroupId::none)
                    visit(t, other);
                else if (u != NodeId::none && !sources_.is_base(conflicts_.nodes[u].source))
                    fits = resolve(g, u, t);
                return fits;
            });
        }
        for (auto [m, g] : visited_) {
            if (!fits)
                pair(m, g) = agreeing;
            else if (out_.group[m] == GroupId::none)
                out_.group[m] = g;
        }
        if (fits)
            return true;
        for (size_t i = resolved_before; i < new_resolutions_.size(); ++i)
            resolved_here_.erase({new_resolutions_[i].group, new_resolutions_[i].forward});
        new_resolutions_.resize(resolved_before);
        return false;
    }

    void visit(NodeId m, GroupId g)
    {
        if (std::exchange(pair(m, g), followed) != followed)
            visited_.emplace_back(m, g);
    }

    /// A representative's forward is a node; false: it is another one already.
    bool resolve(GroupId group, NodeId forward, NodeId node)
    {
        if (ambiguous_) { // else there is but one node of that name
            auto [at, added] = resolved_here_.emplace(std::pair(group, forward), node);
            if (!added)
                return reachable_.canonical[at->second] == reachable_.canonical[node];
        }
        new_resolutions_.push_back({group, forward, node});
        return true;
    }

    const Sources &sources_;
    const ConflictGraph &conflicts_;
    const ReachableConflicts &reachable_;
    const Preference preference_;
    Joined &out_;
    IdVector<GroupId, uint32_t> index_;                    // its place in Joined::groups
    IdVector<GroupId, size_t> block_;                      // where in meanings_ its slots are
    IdVector<ClassId, std::vector<Candidate>> candidates_; // as Joined::groups
    std::vector<Meaning> meanings_;                        // meaning(), one beside the other
    VectorIndex keys_;                                     // {class, set}
    std::vector<NodeId> first_with_;                       // per key: the first node that joined
    // Of the object that joins; its nodes by place_of().
    IdRange<NodeId> nodes_{NodeId{0}, NodeId{0}};
    uint32_t begin_ = 0;
    std::vector<uint32_t> key_of_;  // per node
    std::vector<uint32_t> first_;   // per node: where its pairs begin
    std::vector<uint8_t> agree_;    // per pair
    std::vector<OwnSlot> own_;      // of nodes without paths
    std::vector<size_t> own_begin_; // per node, and the end
    Lists<uint32_t, NodeId> users_; // per node: nodes that have it as a slot
    bool ambiguous_ = false;
    std::vector<std::pair<NodeId, GroupId>> visited_; // pairs that follow() met
    std::vector<NewResolution> new_resolutions_;
    std::vector<GroupId> changed_; // groups that are new, or of which something was resolved
    Resolutions resolved_here_;    // the same, of an ambiguous object
};

Groups::Groups(const Sources &sources, const ClassGraph &graph, const ConflictGraph &conflicts,
               const ReachableConflicts &reachable, const std::vector<uint32_t> &order,
               Preference preference)
    : conflicts_(conflicts), by_name_(graph.names.size())
{
    Joiner(sources, conflicts, reachable, preference, graph.size(), made_).run(order);
    for (NameId n : graph.names.ids()) {
        for (ClassId c : graph.names[n].definitions)
            by_name_[n].insert(by_name_[n].end(), made_.groups[c].begin(), made_.groups[c].end());
        std::sort(by_name_[n].begin(), by_name_[n].end());
    }
}

std::vector<Groups> join_groups(const Sources &sources, const ClassGraph &graph,
                                const ConflictGraph &conflicts, const ReachableConflicts &reachable)
{
    std::vector<Groups> out;
    auto join = [&](const std::vector<uint32_t> &order, Preference preference) {
        out.emplace_back(sources, graph, conflicts, reachable, order, preference);
    };
    const std::vector<uint32_t> by_definitions = order_by_definitions(sources, conflicts);
    join(by_definitions, Preference::newest);
    if (conflicts.nodes.size() > few_nodes)
        return out;
    std::vector<uint32_t> link_order(sources.list.size());
    std::iota(link_order.begin(), link_order.end(), 0);
    join(link_order, Preference::newest);
    const bool had_choice = out[0].had_choice() || out[1].had_choice();
    if (!had_choice || conflicts.nodes.size() + conflicts.refs.size() > few_for_ways) {
        std::vector<Groups> better;
        better.push_back(std::move(out[out[0].count() < out[1].count() ? 0 : 1]));
        return better;
    }
    join(by_definitions, Preference::oldest);
    join(link_order, Preference::oldest);
    return out;
}

GroupId Groups::at_slot(GroupId group, SlotId slot) const
{
    const NodeId node = representative(group);
    if (!conflicts_.paths[node])
        return made_.meaning(conflicts_, group, conflicts_.edges_of(node)[raw(slot)]);
    for (const Path &p : *conflicts_.paths[node])
        if (p.slot == slot)
            if (GroupId found = made_.meaning(conflicts_, group, p.target); found != GroupId::none)
                return found;
    return GroupId::none;
}

} // namespace btflink::merge
