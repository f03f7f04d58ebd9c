// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3c: which nodes of the hot graph are the same.
#pragma once

#include "merge/dedup/reachable_conflicts.h"

#include <unordered_map>

namespace btflink::merge
{

// Values of slots that are no node.
constexpr uint32_t wild = UINT32_MAX;          // a hole: agrees with any
constexpr uint32_t irregular = UINT32_MAX - 1; // first word of a vector by paths, not by names

class Colours
{
public:
    Colours(const Sources &sources, const ClassGraph &graph, const HotGraph &hot, unsigned threads);

    /// The node that leads the group of `node`, which is no hole. Groups are what is the same.
    uint32_t of(uint32_t node) const { return made_.colour[node]; }
    /// The groups of all definitions of a name, lowest first.
    const std::vector<uint32_t> &groups(uint32_t name) const { return groups_[name]; }
    /// What a hole of a leader was filled with by the members of its group, as a group; none:
    /// nothing. Others of the leader's object may have it filled with something else.
    uint32_t filled(uint32_t leader, uint32_t hole) const { return made_.filled(leader, hole); }
    /// Has any of its holes been filled?
    bool any_filled(uint32_t leader) const { return made_.any_filled[leader]; }
    /// The values of a node's slots: groups or `wild`; or {irregular, ...}.
    void vector_of(uint32_t node, std::vector<uint32_t> &out) const;
    /// The most rounds that an object took.
    uint64_t rounds() const { return made_.rounds; }

private:
    class Joiner;
    uint32_t value(uint32_t node, uint32_t target) const;
    struct PairHash {
        size_t operator()(const std::pair<uint32_t, uint32_t> &p) const
        {
            return (uint64_t{p.first} << 32 | p.second) * 0x9e3779b97f4a7c15;
        }
    };

    using Fills = std::unordered_map<std::pair<uint32_t, uint32_t>, uint32_t, PairHash>;
    /// What joining in one order makes.
    struct Grouping {
        std::vector<uint32_t> colour;              // per node
        std::vector<std::vector<uint32_t>> groups; // per class: leaders
        size_t count = 0;                          // of groups
        Fills fill;                                // {leader, hole}: the node that it stands for
        std::vector<bool> any_filled;              // per leader
        uint64_t rounds = 0;

        uint32_t filled(uint32_t leader, uint32_t hole) const
        {
            auto found = fill.find({leader, hole});
            return found == fill.end() ? none : colour[found->second];
        }
    };

    const Sources &sources_;
    const HotGraph &hot_;
    Grouping made_;
    std::vector<std::vector<uint32_t>> groups_; // per name
};

} // namespace btflink::merge
