// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Steps 3 and 4 of conflicts.cc: refinement in rounds, and holes.
//
// Groups of a class. Nodes with equal vectors are one. Vectors with holes come after those with
// fewer, and join the lowest group whose leader covers them (equals them but for their holes), or
// else the lowest with which all its members agree. When nothing changes any more, holes of leaders
// that a member fills are pinned to what the member has, and refinement starts anew; so in the end
// each leader covers its group and can stand for it. Where that does not come about, only covered
// vectors join.
//
// Invariant. Nodes of one group differ in no slot that is known in both.
#include "merge/colours.h"

#include "merge/parallel.h"

namespace btflink::merge
{

namespace
{

constexpr uint32_t max_completions = 16;

bool covers(std::span<const uint32_t> head, std::span<const uint32_t> v)
{
    if (head.size() != v.size())
        return false;
    for (size_t i = 0; i < v.size(); ++i)
        if (v[i] != head[i] && v[i] != wild)
            return false;
    return true;
}

bool agree(std::span<const uint32_t> a, std::span<const uint32_t> b)
{
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i] && a[i] != wild && b[i] != wild)
            return false;
    return true;
}

} // namespace

/// The distinct vectors of a class' members, and the groups that they make.
struct Colours::Vectors {
    VectorIndex index;
    std::vector<uint32_t> first;  // per vector: lowest member, as node
    std::vector<uint32_t> leader; // per vector: the vector whose group it joins
    std::vector<uint32_t> of;     // per member: its vector
};

Colours::Colours(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                 const HotGraph &hot, unsigned threads)
    : sources_(sources), classes_(classes), graph_(graph), hot_(hot), threads_(threads)
{
    settle();
}

void Colours::settle()
{
    pin_.assign(hot_.nodes.size(), none);
    strict_.assign(graph_.size(), false);
    for (uint32_t completions = 0; completions < max_completions; ++completions) {
        refine_rounds();
        if (!complete())
            return;
    }
    strict_.assign(graph_.size(), true);
    refine_rounds();
}

void Colours::refine_rounds()
{
    colour_.assign(hot_.nodes.size(), none);
    for (uint32_t n = 0; n < hot_.nodes.size(); ++n)
        if (!hot_.nodes[n].is_hole())
            colour_[n] = hot_.members[hot_.nodes[n].cls].front();
    only_.assign(graph_.names.size(), none);
    std::vector<uint32_t> dirty;
    for (uint32_t n = 0; n < graph_.names.size(); ++n)
        if (hot_.hot[n])
            find_only(n);
    for (uint32_t c = 0; c < graph_.size(); ++c)
        if (!hot_.slots[c].empty() && !hot_.members[c].empty())
            dirty.push_back(c);
    std::vector<bool> queued(graph_.size());
    // Holes may, in theory, change sides for ever; then they stay where they are.
    const uint64_t patience = rounds_ + 2 * dirty.size() + 100;
    while (!dirty.empty()) {
        ++rounds_;
        bool sticky = rounds_ > patience;
        std::vector<std::vector<uint32_t>> groups(dirty.size());
        parallel_for(dirty.size(), threads_,
                     [&](size_t i) { groups[i] = group(dirty[i], sticky); });
        std::vector<uint32_t> next, names;
        for (size_t i = 0; i < dirty.size(); ++i) {
            bool changed = false;
            auto members = hot_.members[dirty[i]];
            for (size_t m = 0; m < members.size(); ++m) {
                changed |= colour_[members[m]] != groups[i][m];
                colour_[members[m]] = groups[i][m];
            }
            if (changed && graph_.name[dirty[i]] != no_name)
                names.push_back(graph_.name[dirty[i]]);
        }
        for (uint32_t name : names) {
            find_only(name);
            for (uint32_t user : hot_.users[name])
                if (!queued[user] && !hot_.members[user].empty()) {
                    queued[user] = true;
                    next.push_back(user);
                }
        }
        for (uint32_t c : next)
            queued[c] = false;
        std::sort(next.begin(), next.end());
        dirty = std::move(next);
    }
}

/// The only colour of a name, if it has one.
void Colours::find_only(uint32_t name)
{
    only_[name] = none;
    if (base_declares(sources_, classes_, graph_, name))
        return;
    for (uint32_t c : graph_.names[name].definitions)
        for (uint32_t n : hot_.members[c]) {
            if (only_[name] == none)
                only_[name] = colour_[n];
            else if (only_[name] != colour_[n]) {
                only_[name] = none;
                return;
            }
        }
}

uint32_t Colours::value(uint32_t target, uint32_t name) const
{
    if (target == none) // only an object that lies about its hashes
        return declared | name;
    const Node &node = hot_.nodes[target];
    if (!node.is_hole())
        return colour_[target];
    if (pin_[target] != none)
        return colour_[pin_[target]];
    if (sources_.is_base(node.source))
        return declared | name;
    return only_[name] != none ? only_[name] : wild;
}

void Colours::vector_of(uint32_t n, std::vector<uint32_t> &out) const
{
    auto slots = hot_.slots[hot_.nodes[n].cls];
    out.clear();
    if (!hot_.paths[n]) {
        for (size_t i = 0; i < slots.size(); ++i)
            out.push_back(value(hot_.edges[hot_.edge_begin[n] + i], slots[i]));
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
        uint32_t v = value(p.target, slots[p.slot]);
        regular &= out[p.slot] == unset || out[p.slot] == v;
        out[p.slot] = v;
    }
    regular &= std::find(out.begin(), out.end(), unset) == out.end();
    if (regular)
        return;
    out.assign(1, irregular);
    for (const Path &p : paths) {
        out.push_back(p.slot);
        out.push_back(value(p.target, slots[p.slot]));
    }
}

Colours::Vectors Colours::vectors_of(uint32_t c, bool sticky) const
{
    Vectors v;
    std::vector<uint32_t> words;
    bool any_wild = false;
    for (uint32_t n : hot_.members[c]) {
        vector_of(n, words);
        if (sticky)
            words.push_back(colour_[n]);
        auto [number, added] = v.index.add(words);
        v.of.push_back(number);
        if (added) {
            v.first.push_back(n);
            any_wild |= std::find(words.begin(), words.end(), wild) != words.end();
        }
    }
    v.leader.resize(v.index.size());
    for (uint32_t i = 0; i < v.leader.size(); ++i)
        v.leader[i] = i;
    if (!any_wild || v.leader.size() == 1)
        return v;
    // Fewest holes first, then lowest: whom others join is known before they come.
    std::vector<std::pair<size_t, uint32_t>> order;
    for (uint32_t i = 0; i < v.leader.size(); ++i) {
        auto at = v.index.at(i);
        size_t holes = static_cast<size_t>(std::count(at.begin(), at.end(), wild));
        order.emplace_back(at[0] == irregular ? 0 : holes, i);
    }
    std::sort(order.begin(), order.end());
    std::vector<uint32_t> heads;
    std::vector<std::vector<uint32_t>> known(v.leader.size()); // per head: by it or its members
    for (auto [holes, i] : order) {
        auto mine = v.index.at(i);
        uint32_t best = none;
        bool best_covers = false;
        for (uint32_t h : heads) {
            if (mine[0] == irregular || known[h].size() != mine.size())
                continue;
            bool covered = covers(v.index.at(h), mine);
            if (!covered && (strict_[c] || best_covers || !agree(known[h], mine)))
                continue;
            if (best == none || (covered && !best_covers) || h < best) {
                best = h;
                best_covers = covered;
            }
        }
        if (best == none) {
            heads.push_back(i);
            known[i].assign(mine.begin(), mine.end());
            continue;
        }
        v.leader[i] = best;
        for (size_t slot = 0; slot < mine.size(); ++slot)
            if (known[best][slot] == wild)
                known[best][slot] = mine[slot];
    }
    return v;
}

std::vector<uint32_t> Colours::group(uint32_t c, bool sticky) const
{
    Vectors v = vectors_of(c, sticky);
    std::vector<uint32_t> out;
    out.reserve(v.of.size());
    for (uint32_t number : v.of)
        out.push_back(v.first[v.leader[number]]);
    return out;
}

/// Pin holes of leaders that members of their groups fill. False: there are none.
bool Colours::complete()
{
    bool changed = false;
    std::vector<uint32_t> leads, mine;
    for (uint32_t c = 0; c < graph_.size(); ++c) {
        if (hot_.slots[c].empty() || hot_.members[c].size() < 2 || strict_[c])
            continue;
        uint32_t leader = none;
        for (uint32_t n : hot_.members[c]) {
            if (n == colour_[n])
                continue;
            if (leader != colour_[n]) {
                leader = colour_[n];
                vector_of(leader, leads);
            }
            if (leads[0] == irregular || std::find(leads.begin(), leads.end(), wild) == leads.end())
                continue;
            vector_of(n, mine);
            for (size_t i = 0; i < mine.size(); ++i) {
                if (leads[i] != wild || mine[i] == wild)
                    continue;
                changed = true;
                uint32_t hole = hot_.edges[hot_.edge_begin[leader] + i];
                if (hot_.paths[leader] || (mine[i] & declared) || hole == none) {
                    strict_[c] = true; // its leader cannot be completed
                    continue;
                }
                if (pin_[hole] == none)
                    pin_[hole] = mine[i];
                leads[i] = mine[i];
            }
        }
    }
    return changed;
}

} // namespace btflink::merge
