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
//  3. In id order, a node joins the newest group that it agrees with. The nodes that it reaches
//     join the groups reached in step, and forward declarations of the representative that the node
//     defines are resolved to its definitions. If no group agrees, the node founds a new one.
// In an ambiguous object (reachable_conflicts.cc) two paths may end in two structs of one name
// where the representative has one forward declaration for both. Each path alone agrees, but the
// declaration cannot be resolved to both. So joining is tried, and undone.
//
// If there are few nodes, they join in link order as well, and the order with fewer groups wins.
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
#include "merge/dedup/join_groups.h"

#include "merge/dedup/join_order.h"

#include <array>
#include <numeric>

namespace btflink::merge
{

namespace
{

// Joining this many twice takes a hundredth of a second. A kernel has a few thousand.
constexpr size_t few_nodes = 20000;

} // namespace

class Groups::Joiner
{
public:
    Joiner(const Sources &sources, const ConflictGraph &conflicts,
           const ReachableConflicts &reachable, size_t classes, Joined &out)
        : sources_(sources), conflicts_(conflicts), reachable_(reachable), out_(out),
          index_(conflicts.nodes.size()), block_(conflicts.nodes.size())
    {
        out.group.assign(conflicts.nodes.size(), none);
        out.groups.resize(classes);
        out.any_resolved.resize(conflicts.nodes.size());
    }

    void run(const std::vector<uint32_t> &order)
    {
        for (uint32_t s : order)
            join(s);
    }

private:
    /// What was found out about a pair.
    enum : uint8_t { disagreeing, agreeing, followed };
    /// What a slot of a representative means: a group, as its class and its place there. The class
    /// is `unresolved` if it means none.
    struct Meaning {
        uint32_t cls, index;
    };
    /// A slot of a node of the object that joins, and the node there, which is a definition: its
    /// class and where its pairs begin.
    struct OwnSlot {
        uint32_t slot, cls, first;
    };
    uint32_t meaning(uint32_t group, uint32_t target) const
    {
        if (target == none)
            return unresolved;
        if (!conflicts_.nodes[target].is_forward())
            return out_.group[target];
        uint32_t resolved = out_.any_resolved[group] ? out_.resolved(group, target) : none;
        return resolved != none ? resolved : unresolved;
    }

    /// How many slots a node has to compare, and where the i-th leads.
    size_t slots_of(uint32_t n) const
    {
        return conflicts_.paths[n] ? conflicts_.paths[n]->size()
                                   : conflicts_.edge_begin[n + 1] - conflicts_.edge_begin[n];
    }
    uint32_t target(uint32_t n, size_t i) const
    {
        return conflicts_.paths[n] ? (*conflicts_.paths[n])[i].target
                                   : conflicts_.edges[conflicts_.edge_begin[n] + i];
    }

    /// Visit the slots of a node and a representative of one class: visit(node's target, number of
    /// the representative's slot), until it returns false. False, too, if the two cannot be
    /// compared.
    template <typename Visit>
    bool for_slots(uint32_t n, uint32_t group, Visit visit) const
    {
        const Paths *mine = conflicts_.paths[n].get(), *its = conflicts_.paths[group].get();
        if ((mine && mine->empty()) || (its && its->empty()))
            return false;
        // Nodes of one class have the same paths.
        if (mine && its && its->size() != mine->size())
            return false;
        const uint32_t *edges = conflicts_.edges.data() + conflicts_.edge_begin[n];
        size_t count = its ? its->size() : slots_of(n);
        for (size_t i = 0; i < count; ++i)
            if (!visit(mine ? (*mine)[i].target : edges[its ? (*its)[i].slot : i],
                       mine && !its ? (*mine)[i].slot : i))
                return false;
        return true;
    }

    bool is_defined(uint32_t target) const
    {
        return target != none && !conflicts_.nodes[target].is_forward();
    }

    uint8_t &pair(uint32_t n, uint32_t group) { return agree_[first_[n - begin_] + index_[group]]; }

    bool agrees(uint32_t n, uint32_t group)
    {
        const Meaning *its = meanings_.data() + block_[group];
        auto fits = [&](const Meaning &meaning, uint32_t cls, uint32_t first) {
            return meaning.cls == unresolved ||
                   (meaning.cls == cls && agree_[first + meaning.index] != disagreeing);
        };
        if (!conflicts_.paths[n] && !conflicts_.paths[group]) // nearly all: the same, faster
            return std::all_of(
                own_.begin() + own_begin_[n - begin_], own_.begin() + own_begin_[n + 1 - begin_],
                [&](const OwnSlot &own) { return fits(its[own.slot], own.cls, own.first); });
        return for_slots(n, group, [&](uint32_t t, size_t i) {
            return !is_defined(t) || fits(its[i], conflicts_.nodes[t].cls, first_[t - begin_]);
        });
    }

    /// What a representative's slots mean from here on.
    void note(uint32_t group)
    {
        for (size_t i = 0; i < slots_of(group); ++i) {
            uint32_t m = meaning(group, target(group, i));
            meanings_[block_[group] + i] = m == unresolved
                                               ? Meaning{unresolved, 0}
                                               : Meaning{conflicts_.nodes[m].cls, index_[m]};
        }
    }

    void join(size_t s)
    {
        begin_ = conflicts_.node_begin[s];
        end_ = conflicts_.node_begin[s + 1];
        ambiguous_ = reachable_.ambiguous[s];
        key_of_.assign(end_ - begin_, none);
        bool all = true;
        for (uint32_t n = begin_; n < end_; ++n) {
            if (conflicts_.nodes[n].is_forward())
                continue;
            uint32_t joined = none;
            if (!ambiguous_) {
                auto [number, added] = keys_.add(
                    std::array<uint32_t, 2>{conflicts_.nodes[n].cls, reachable_.set_of[n]});
                if (added)
                    first_with_.push_back(n);
                key_of_[n - begin_] = number;
                joined = out_.group[first_with_[number]];
            }
            out_.group[n] = joined;
            all &= joined != none;
        }
        if (all)
            return;
        find_pairs();
        for (uint32_t n = begin_; n < end_; ++n)
            if (!conflicts_.nodes[n].is_forward() && out_.group[n] == none)
                place(n);
        for (auto [group, forward, node] : new_resolutions_) {
            out_.resolutions.emplace(std::pair(group, forward), node);
            if (changed_.empty() || changed_.back() != group)
                changed_.push_back(group);
            out_.any_resolved[group] = true;
        }
        for (uint32_t group : changed_)
            note(group);
        changed_.clear();
        new_resolutions_.clear();
        resolved_here_.clear();
    }

    void find_pairs()
    {
        uint32_t count = end_ - begin_;
        first_.assign(count, 0);
        agree_.clear();
        users_ = Lists::make(count, [&](auto put) {
            for (uint32_t n = begin_; n < end_; ++n) {
                if (conflicts_.paths[n])
                    for (const Path &p : *conflicts_.paths[n]) {
                        if (is_defined(p.target))
                            put(p.target - begin_, n);
                    }
                else
                    for (uint64_t e = conflicts_.edge_begin[n]; e < conflicts_.edge_begin[n + 1];
                         ++e)
                        if (is_defined(conflicts_.edges[e]))
                            put(conflicts_.edges[e] - begin_, n);
            }
        });
        std::vector<uint32_t> dirty, next;
        std::vector<bool> queued(count, false);
        for (uint32_t n = begin_; n < end_; ++n) {
            first_[n - begin_] = static_cast<uint32_t>(agree_.size());
            if (conflicts_.nodes[n].is_forward())
                continue;
            for (uint32_t g : out_.groups[conflicts_.nodes[n].cls])
                agree_.push_back(reachable_.may_reach_forward(n) ||
                                 reachable_.may_reach_forward(g) ||
                                 reachable_.set_of[n] == reachable_.set_of[g]);
            dirty.push_back(n);
        }
        own_.clear();
        own_begin_.assign(1, 0);
        for (uint32_t n = begin_; n < end_; ++n) {
            if (!conflicts_.paths[n])
                for (uint64_t e = conflicts_.edge_begin[n]; e < conflicts_.edge_begin[n + 1]; ++e)
                    if (uint32_t t = conflicts_.edges[e]; is_defined(t))
                        own_.push_back({static_cast<uint32_t>(e - conflicts_.edge_begin[n]),
                                        conflicts_.nodes[t].cls, first_[t - begin_]});
            own_begin_.push_back(own_.size());
        }
        uint64_t rounds = 0;
        for (; !dirty.empty(); dirty.swap(next), next.clear()) {
            ++rounds;
            for (uint32_t n : dirty)
                queued[n - begin_] = false;
            for (uint32_t n : dirty) {
                bool changed = rounds == 1 && out_.groups[conflicts_.nodes[n].cls].empty();
                // Pairs that reach no forward declaration have equal sets, and always agree.
                for (uint32_t g : out_.groups[conflicts_.nodes[n].cls])
                    if (pair(n, g) &&
                        (reachable_.may_reach_forward(n) || reachable_.may_reach_forward(g)) &&
                        !agrees(n, g)) {
                        pair(n, g) = disagreeing;
                        changed = true;
                    }
                if (changed)
                    for (uint32_t user : users_[n - begin_])
                        if (!queued[user - begin_]) {
                            queued[user - begin_] = true;
                            next.push_back(user);
                        }
            }
        }
        out_.rounds = std::max(out_.rounds, rounds);
    }

    /// Join a group, or found one.
    void place(uint32_t n)
    {
        uint32_t key = key_of_[n - begin_];
        uint32_t same = key == none ? reachable_.canonical[n] : first_with_[key];
        if (out_.group[same] != none) {
            out_.group[n] = out_.group[same];
            return;
        }
        auto &groups = out_.groups[conflicts_.nodes[n].cls];
        auto count = static_cast<size_t>(
            (n + 1 < end_ ? first_[n + 1 - begin_] : static_cast<uint32_t>(agree_.size())) -
            first_[n - begin_]);
        for (size_t i = count; i--;)
            if (uint32_t g = groups[i]; pair(n, g) && follow(n, g))
                return;
        out_.group[n] = n;
        index_[n] = static_cast<uint32_t>(groups.size());
        groups.push_back(n);
        block_[n] = meanings_.size();
        meanings_.resize(meanings_.size() + slots_of(n));
        changed_.push_back(n);
        ++out_.count;
    }

    /// What `n` and the group reach in step joins, and resolves forward declarations. False: one of
    /// these would have to resolve to two definitions; nothing was done.
    bool follow(uint32_t n, uint32_t group)
    {
        visited_.clear();
        const size_t resolved_before = new_resolutions_.size();
        visit(n, group);
        bool fits = true;
        for (size_t next = 0; fits && next < visited_.size(); ++next) {
            const auto [m, last] = visited_[next];
            const auto g = last; // a binding cannot be captured
            for_slots(m, g, [&](uint32_t t, size_t i) {
                if (!is_defined(t))
                    return true;
                uint32_t u = target(g, i), other = meaning(g, u);
                if (other != unresolved && conflicts_.nodes[t].cls != conflicts_.nodes[other].cls)
                    fits = false; // the stated hashes are false
                else if (other != unresolved)
                    visit(t, other);
                else if (u != none && !sources_.is_base(conflicts_.nodes[u].source))
                    fits = resolve(g, u, t);
                return fits;
            });
        }
        for (auto [m, g] : visited_) {
            if (!fits)
                pair(m, g) = agreeing;
            else if (out_.group[m] == none)
                out_.group[m] = g;
        }
        if (fits)
            return true;
        for (size_t i = resolved_before; i < new_resolutions_.size(); ++i)
            resolved_here_.erase({new_resolutions_[i][0], new_resolutions_[i][1]});
        new_resolutions_.resize(resolved_before);
        return false;
    }

    void visit(uint32_t m, uint32_t g)
    {
        if (std::exchange(pair(m, g), followed) != followed)
            visited_.emplace_back(m, g);
    }

    /// A representative's forward is a node; false: it is another one already.
    bool resolve(uint32_t group, uint32_t forward, uint32_t node)
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
    Joined &out_;
    std::vector<uint32_t> index_;      // per group: its place in Joined::groups
    std::vector<size_t> block_;        // per group: where in meanings_ its slots are
    std::vector<Meaning> meanings_;    // meaning(), one beside the other
    VectorIndex keys_;                 // {class, set}
    std::vector<uint32_t> first_with_; // per key: the first node that joined
    // Of the object that joins.
    uint32_t begin_ = 0, end_ = 0;  // its nodes
    std::vector<uint32_t> key_of_;  // per node
    std::vector<uint32_t> first_;   // per node: where its pairs begin
    std::vector<uint8_t> agree_;    // per pair
    std::vector<OwnSlot> own_;      // of nodes without paths
    std::vector<size_t> own_begin_; // per node, and the end
    Lists users_;                   // per node: nodes that have it as a slot
    bool ambiguous_ = false;
    std::vector<std::pair<uint32_t, uint32_t>> visited_;   // pairs that follow() met
    std::vector<std::array<uint32_t, 3>> new_resolutions_; // group, forward, node
    std::vector<uint32_t> changed_; // groups that are new, or of which something was resolved
    Resolutions resolved_here_;     // the same, of an ambiguous object
};

Groups::Groups(const Sources &sources, const ClassGraph &graph, const ConflictGraph &conflicts,
               unsigned threads)
    : conflicts_(conflicts), by_name_(graph.names.size())
{
    const ReachableConflicts reachable =
        find_reachable_conflicts(sources, graph, conflicts, threads);
    auto join = [&](const std::vector<uint32_t> &order) {
        Joined made;
        Joiner(sources, conflicts, reachable, graph.size(), made).run(order);
        if (made_.group.empty() || made.count < made_.count)
            made_ = std::move(made);
    };
    if (conflicts.nodes.size() <= few_nodes) {
        std::vector<uint32_t> order(sources.list.size());
        std::iota(order.begin(), order.end(), 0);
        join(order);
    }
    join(order_by_definitions(sources, conflicts));
    for (uint32_t n = 0; n < graph.names.size(); ++n) {
        for (uint32_t c : graph.names[n].definitions)
            by_name_[n].insert(by_name_[n].end(), made_.groups[c].begin(), made_.groups[c].end());
        std::sort(by_name_[n].begin(), by_name_[n].end());
    }
}

uint32_t Groups::value(uint32_t n, uint32_t target) const
{
    if (target == none)
        return unresolved;
    const Node &node = conflicts_.nodes[target];
    if (!node.is_forward())
        return made_.group[target];
    if (any_resolved(n))
        if (uint32_t group = resolved(n, target); group != none)
            return group;
    return unresolved;
}

void Groups::slot_values(uint32_t n, std::vector<uint32_t> &out) const
{
    auto slots = conflicts_.slots[conflicts_.nodes[n].cls];
    out.clear();
    if (!conflicts_.paths[n]) {
        for (size_t i = 0; i < slots.size(); ++i)
            out.push_back(value(n, conflicts_.edges[conflicts_.edge_begin[n] + i]));
        return;
    }
    const Paths &paths = *conflicts_.paths[n];
    if (paths.empty()) {
        out = {irregular, n};
        return;
    }
    // Values by name, unless two paths to one name lead to different nodes.
    constexpr uint32_t unset = irregular;
    out.assign(slots.size(), unset);
    bool regular = true;
    for (const Path &p : paths) {
        uint32_t v = value(n, p.target);
        regular &= out[p.slot] == unset || out[p.slot] == v;
        out[p.slot] = v;
    }
    regular &= std::find(out.begin(), out.end(), unset) == out.end();
    if (regular)
        return;
    out.assign(1, irregular);
    for (const Path &p : paths) {
        out.push_back(p.slot);
        out.push_back(value(n, p.target));
    }
}

} // namespace btflink::merge
