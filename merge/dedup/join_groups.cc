// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Objects know different parts of a program: where one has the definition of a struct
// another has only its declaration, a hole. Two structs are the same if nothing that both know
// differs, any number of pointers away. Of a name with several definitions a hole may stand for
// each, so this is no equivalence; there is a choice, and it must be made well (few groups), the
// same always, and not by walking from every struct to every other.
//
// Method. Objects join one by one, those of one opinion together (join_order.cc). What is there
// already are groups, each led by a node of an earlier object, whose references its members share.
// Nodes with the class and the view of an earlier node go where that went. For the others,
// candidates are the groups of their class. Pairs (node, group) are taken to agree until a slot
// tells otherwise: both know it, and the pair of what they know is no pair, or disagrees.
// Disagreement travels backwards from slots to users, in rounds, until nothing changes. What is
// left agrees, all the way down. Then, in id order: a node goes to the newest group that it agrees
// with, and what it reaches goes with it; holes of the group's leader that the node fills are
// pinned to what it has. If there is no such group the node leads a new one. In an exact object
// (reachable_conflicts.cc) two paths may end in two structs of one name where the leader has one
// hole for both. Step by step that agrees, but the hole cannot be both; so it is tried, and undone.
//
// Which order makes the fewest groups nobody knows: where there is little to join it is done in
// link order, too, and that is taken unless it makes more.
//
// A base cannot be completed: what it only declares agrees with every definition, now and later,
// and is never filled. So a group that a base's struct leads may have members that mean different
// things by one declaration. That does no harm, because the references of the group are the base's,
// and what a member's object knows beyond them is told by its own other types.
//
// Invariant. Pairs that were followed when a node joined stay in agreement: what both knew was
// equal, what the leader did not know is pinned to what the node had, and only unpinned holes ever
// change. So each leader can stand for its group.
//
// Why the views. Without holes a node can only join what has the same view or has holes itself; so
// where objects know everything, as most do, no pair is looked at.
//
// Cost. Per object with new views: its nodes, times the groups of their classes, times slots, times
// the rounds; a conflict makes few groups per class, as many as it has sides.
//
// Rejected. Colouring all nodes in rounds with wild slots, and starting anew when holes are pinned:
// a group's members then agree with its leader but not with each other's sides; a core struct of
// two kinds made five groups where two do.
#include "merge/dedup/join_groups.h"

#include "merge/dedup/join_order.h"

#include <array>
#include <numeric>

namespace btflink::merge
{

namespace
{

// Joining so many twice takes a hundredth of a second; a kernel has a few thousand.
constexpr size_t few_nodes = 20000;

} // namespace

class Colours::Joiner
{
public:
    Joiner(const Sources &sources, const HotGraph &hot, const Views &views, size_t classes,
           Grouping &out)
        : sources_(sources), hot_(hot), views_(views), out_(out), index_(hot.nodes.size()),
          block_(hot.nodes.size())
    {
        out.colour.assign(hot.nodes.size(), none);
        out.groups.resize(classes);
        out.any_filled.resize(hot.nodes.size());
    }

    void run(const std::vector<uint32_t> &order)
    {
        for (uint32_t s : order)
            join(s);
    }

private:
    /// What a leader's slot means now: a group, or this.
    static constexpr uint32_t unknown = wild;
    /// What is known of a pair.
    enum : uint8_t { disagreeing, agreeing, followed };
    /// What a slot means: a group's class and its place there; no class has the number of the
    /// other meanings.
    struct Known {
        uint32_t cls, index;
    };
    /// A slot of a node of the object that joins, and the known node there: its class and where
    /// its pairs begin.
    struct Own {
        uint32_t slot, cls, first;
    };
    uint32_t meaning(uint32_t leader, uint32_t target) const
    {
        if (target == none)
            return unknown;
        if (!hot_.nodes[target].is_hole())
            return out_.colour[target];
        uint32_t filled = out_.any_filled[leader] ? out_.filled(leader, target) : none;
        return filled != none ? filled : unknown;
    }

    /// How many slots a node has to compare, and where the i-th leads.
    size_t slots_of(uint32_t n) const
    {
        return hot_.paths[n] ? hot_.paths[n]->size() : hot_.edge_begin[n + 1] - hot_.edge_begin[n];
    }
    uint32_t target(uint32_t n, size_t i) const
    {
        return hot_.paths[n] ? (*hot_.paths[n])[i].target : hot_.edges[hot_.edge_begin[n] + i];
    }

    /// Visit the slots of a node and a leader of one class: visit(node's target, number of the
    /// leader's slot), until it returns false. False, too, if the two cannot be compared.
    template <typename Visit>
    bool for_slots(uint32_t n, uint32_t leader, Visit visit) const
    {
        const Paths *mine = hot_.paths[n].get(), *its = hot_.paths[leader].get();
        if ((mine && mine->empty()) || (its && its->empty()))
            return false;
        // Nodes of one class have the same paths.
        if (mine && its && its->size() != mine->size())
            return false;
        const uint32_t *edges = hot_.edges.data() + hot_.edge_begin[n];
        size_t count = its ? its->size() : slots_of(n);
        for (size_t i = 0; i < count; ++i)
            if (!visit(mine ? (*mine)[i].target : edges[its ? (*its)[i].slot : i],
                       mine && !its ? (*mine)[i].slot : i))
                return false;
        return true;
    }

    bool known(uint32_t target) const { return target != none && !hot_.nodes[target].is_hole(); }

    uint8_t &pair(uint32_t n, uint32_t group) { return agree_[first_[n - begin_] + index_[group]]; }

    bool agrees(uint32_t n, uint32_t group)
    {
        const Known *its = known_.data() + block_[group];
        auto fits = [&](const Known &known, uint32_t cls, uint32_t first) {
            return known.cls == unknown ||
                   (known.cls == cls && agree_[first + known.index] != disagreeing);
        };
        if (!hot_.paths[n] && !hot_.paths[group]) // nearly all: the same, faster
            return std::all_of(
                own_.begin() + own_begin_[n - begin_], own_.begin() + own_begin_[n + 1 - begin_],
                [&](const Own &own) { return fits(its[own.slot], own.cls, own.first); });
        return for_slots(n, group, [&](uint32_t t, size_t i) {
            return !known(t) || fits(its[i], hot_.nodes[t].cls, first_[t - begin_]);
        });
    }

    /// What a leader's slots mean from here on.
    void note(uint32_t leader)
    {
        for (size_t i = 0; i < slots_of(leader); ++i) {
            uint32_t m = meaning(leader, target(leader, i));
            known_[block_[leader] + i] =
                m == unknown ? Known{unknown, 0} : Known{hot_.nodes[m].cls, index_[m]};
        }
    }

    void join(size_t s)
    {
        begin_ = hot_.node_begin[s];
        end_ = hot_.node_begin[s + 1];
        exact_ = views_.exact[s];
        key_of_.assign(end_ - begin_, none);
        bool all = true;
        for (uint32_t n = begin_; n < end_; ++n) {
            if (hot_.nodes[n].is_hole())
                continue;
            uint32_t led = none;
            if (!exact_) {
                auto [number, added] =
                    keys_.add(std::array<uint32_t, 2>{hot_.nodes[n].cls, views_.of[n]});
                if (added)
                    first_with_.push_back(n);
                key_of_[n - begin_] = number;
                led = out_.colour[first_with_[number]];
            }
            out_.colour[n] = led;
            all &= led != none;
        }
        if (all)
            return;
        find_pairs();
        for (uint32_t n = begin_; n < end_; ++n)
            if (!hot_.nodes[n].is_hole() && out_.colour[n] == none)
                place(n);
        for (auto [leader, hole, node] : fills_) {
            out_.fill.emplace(std::pair(leader, hole), node);
            if (leaders_.empty() || leaders_.back() != leader)
                leaders_.push_back(leader);
            out_.any_filled[leader] = true;
        }
        for (uint32_t leader : leaders_)
            note(leader);
        leaders_.clear();
        fills_.clear();
        filled_here_.clear();
    }

    void find_pairs()
    {
        uint32_t count = end_ - begin_;
        first_.assign(count, 0);
        agree_.clear();
        users_ = Lists::make(count, [&](auto put) {
            for (uint32_t n = begin_; n < end_; ++n) {
                if (hot_.paths[n])
                    for (const Path &p : *hot_.paths[n]) {
                        if (known(p.target))
                            put(p.target - begin_, n);
                    }
                else
                    for (uint64_t e = hot_.edge_begin[n]; e < hot_.edge_begin[n + 1]; ++e)
                        if (known(hot_.edges[e]))
                            put(hot_.edges[e] - begin_, n);
            }
        });
        std::vector<uint32_t> dirty, next;
        std::vector<bool> queued(count, false);
        for (uint32_t n = begin_; n < end_; ++n) {
            first_[n - begin_] = static_cast<uint32_t>(agree_.size());
            if (hot_.nodes[n].is_hole())
                continue;
            for (uint32_t g : out_.groups[hot_.nodes[n].cls])
                agree_.push_back(views_.is_open(n) || views_.is_open(g) ||
                                 views_.of[n] == views_.of[g]);
            dirty.push_back(n);
        }
        own_.clear();
        own_begin_.assign(1, 0);
        for (uint32_t n = begin_; n < end_; ++n) {
            if (!hot_.paths[n])
                for (uint64_t e = hot_.edge_begin[n]; e < hot_.edge_begin[n + 1]; ++e)
                    if (uint32_t t = hot_.edges[e]; known(t))
                        own_.push_back({static_cast<uint32_t>(e - hot_.edge_begin[n]),
                                        hot_.nodes[t].cls, first_[t - begin_]});
            own_begin_.push_back(own_.size());
        }
        uint64_t rounds = 0;
        for (; !dirty.empty(); dirty.swap(next), next.clear()) {
            ++rounds;
            for (uint32_t n : dirty)
                queued[n - begin_] = false;
            for (uint32_t n : dirty) {
                bool changed = rounds == 1 && out_.groups[hot_.nodes[n].cls].empty();
                // Pairs without holes on either side have equal views, and agree for good.
                for (uint32_t g : out_.groups[hot_.nodes[n].cls])
                    if (pair(n, g) && (views_.is_open(n) || views_.is_open(g)) && !agrees(n, g)) {
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

    /// Join a group, or lead one.
    void place(uint32_t n)
    {
        uint32_t key = key_of_[n - begin_];
        uint32_t twin = key == none ? views_.twin[n] : first_with_[key];
        if (out_.colour[twin] != none) {
            out_.colour[n] = out_.colour[twin];
            return;
        }
        auto &groups = out_.groups[hot_.nodes[n].cls];
        auto count = static_cast<size_t>(
            (n + 1 < end_ ? first_[n + 1 - begin_] : static_cast<uint32_t>(agree_.size())) -
            first_[n - begin_]);
        for (size_t i = count; i--;)
            if (uint32_t g = groups[i]; pair(n, g) && follow(n, g))
                return;
        out_.colour[n] = n;
        index_[n] = static_cast<uint32_t>(groups.size());
        groups.push_back(n);
        block_[n] = known_.size();
        known_.resize(known_.size() + slots_of(n));
        leaders_.push_back(n);
        ++out_.count;
    }

    /// What `n` and the group reach in step joins, and fills holes. False: one of the holes would
    /// have to be two things; nothing was done.
    bool follow(uint32_t n, uint32_t group)
    {
        visited_.clear();
        const size_t fills_before = fills_.size();
        visit(n, group);
        bool fits = true;
        for (size_t next = 0; fits && next < visited_.size(); ++next) {
            const auto [m, last] = visited_[next];
            const auto g = last; // a binding cannot be captured
            for_slots(m, g, [&](uint32_t t, size_t i) {
                if (!known(t))
                    return true;
                uint32_t u = target(g, i), other = meaning(g, u);
                if (other != unknown && hot_.nodes[t].cls != hot_.nodes[other].cls)
                    fits = false; // an object lies about its hashes
                else if (other != unknown)
                    visit(t, other);
                else if (u != none && !sources_.is_base(hot_.nodes[u].source))
                    fits = fill(g, u, t);
                return fits;
            });
        }
        for (auto [m, g] : visited_) {
            if (!fits)
                pair(m, g) = agreeing;
            else if (out_.colour[m] == none)
                out_.colour[m] = g;
        }
        if (fits)
            return true;
        for (size_t i = fills_before; i < fills_.size(); ++i)
            filled_here_.erase({fills_[i][0], fills_[i][1]});
        fills_.resize(fills_before);
        return false;
    }

    void visit(uint32_t m, uint32_t g)
    {
        if (std::exchange(pair(m, g), followed) != followed)
            visited_.emplace_back(m, g);
    }

    /// A leader's hole is a node; false: it is another one already.
    bool fill(uint32_t leader, uint32_t hole, uint32_t node)
    {
        if (exact_) { // else there is but one node of that name
            auto [at, added] = filled_here_.emplace(std::pair(leader, hole), node);
            if (!added)
                return views_.twin[at->second] == views_.twin[node];
        }
        fills_.push_back({leader, hole, node});
        return true;
    }

    const Sources &sources_;
    const HotGraph &hot_;
    const Views &views_;
    Grouping &out_;
    std::vector<uint32_t> index_;      // per leader: its place in Grouping::groups
    std::vector<size_t> block_;        // per leader: where in known_ its slots are
    std::vector<Known> known_;         // meaning(), one beside the other
    VectorIndex keys_;                 // {class, view}
    std::vector<uint32_t> first_with_; // per key: the first node that joined
    // Of the object that joins.
    uint32_t begin_ = 0, end_ = 0;  // its nodes
    std::vector<uint32_t> key_of_;  // per node
    std::vector<uint32_t> first_;   // per node: where its pairs begin
    std::vector<uint8_t> agree_;    // per pair
    std::vector<Own> own_;          // of nodes without paths
    std::vector<size_t> own_begin_; // per node, and the end
    Lists users_;                   // per node: nodes that have it as a slot
    bool exact_ = false;
    std::vector<std::pair<uint32_t, uint32_t>> visited_; // pairs that follow() came by
    std::vector<std::array<uint32_t, 3>> fills_;         // leader, hole, node
    std::vector<uint32_t> leaders_;                      // that are new, or have something filled
    Fills filled_here_;                                  // of an exact object, the same
};

Colours::Colours(const Sources &sources, const ClassGraph &graph, const HotGraph &hot,
                 unsigned threads)
    : sources_(sources), hot_(hot), groups_(graph.names.size())
{
    const Views views = make_views(sources, graph, hot, threads);
    auto join = [&](const std::vector<uint32_t> &order) {
        Grouping made;
        Joiner(sources, hot, views, graph.size(), made).run(order);
        if (made_.colour.empty() || made.count < made_.count)
            made_ = std::move(made);
    };
    if (hot.nodes.size() <= few_nodes) {
        std::vector<uint32_t> order(sources.list.size());
        std::iota(order.begin(), order.end(), 0);
        join(order);
    }
    join(order_by_meaning(sources, hot));
    for (uint32_t n = 0; n < graph.names.size(); ++n) {
        for (uint32_t c : graph.names[n].definitions)
            groups_[n].insert(groups_[n].end(), made_.groups[c].begin(), made_.groups[c].end());
        std::sort(groups_[n].begin(), groups_[n].end());
    }
}

uint32_t Colours::value(uint32_t n, uint32_t target) const
{
    if (target == none) // only an object that lies about its hashes
        return wild;
    const Node &node = hot_.nodes[target];
    if (!node.is_hole())
        return made_.colour[target];
    if (any_filled(n))
        if (uint32_t group = filled(n, target); group != none)
            return group;
    return wild;
}

void Colours::vector_of(uint32_t n, std::vector<uint32_t> &out) const
{
    auto slots = hot_.slots[hot_.nodes[n].cls];
    out.clear();
    if (!hot_.paths[n]) {
        for (size_t i = 0; i < slots.size(); ++i)
            out.push_back(value(n, hot_.edges[hot_.edge_begin[n] + i]));
        return;
    }
    const Paths &paths = *hot_.paths[n];
    if (paths.empty()) {
        out = {irregular, n};
        return;
    }
    // A vector like others' unless two paths to one name have different ends.
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
