// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups of equal nodes: the equivalence classes of the conflict graph.
#pragma once

#include "merge/dedup/reachable_conflicts.h"

#include <unordered_map>

namespace btflink::merge
{

// Values of slots that are no node.
constexpr uint32_t unresolved = UINT32_MAX;    // a forward declaration: agrees with anything
constexpr uint32_t irregular = UINT32_MAX - 1; // first word of values by paths, not by names

/// A group is named by its representative, one of its nodes.
class Groups
{
public:
    Groups(const Sources &sources, const ClassGraph &graph, const ConflictGraph &conflicts,
           unsigned threads);

    /// The representative of a node that is no forward declaration.
    uint32_t representative(uint32_t node) const { return made_.group[node]; }
    /// The groups of all definitions of a name, lowest first.
    const std::vector<uint32_t> &of_name(uint32_t name) const { return by_name_[name]; }
    /// The group that members of a group resolved a forward declaration of its representative to;
    /// none: none of them knows a definition. In other groups of the same object it may resolve to
    /// another definition.
    uint32_t resolved(uint32_t group, uint32_t forward) const
    {
        return made_.resolved(group, forward);
    }
    /// Has any forward declaration of the representative been resolved?
    bool any_resolved(uint32_t group) const { return made_.any_resolved[group]; }
    /// The values of a node's slots: groups or `unresolved`; or {irregular, ...}.
    void slot_values(uint32_t node, std::vector<uint32_t> &out) const;
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

    using Resolutions = std::unordered_map<std::pair<uint32_t, uint32_t>, uint32_t, PairHash>;
    /// The result of joining in one order.
    struct Joined {
        std::vector<uint32_t> group;               // per node
        std::vector<std::vector<uint32_t>> groups; // per class
        size_t count = 0;                          // of groups
        Resolutions resolutions;                   // {group, forward}: the node that it stands for
        std::vector<bool> any_resolved;            // per group
        uint64_t rounds = 0;

        uint32_t resolved(uint32_t of_group, uint32_t forward) const
        {
            auto found = resolutions.find({of_group, forward});
            return found == resolutions.end() ? none : group[found->second];
        }
    };

    const ConflictGraph &conflicts_;
    Joined made_;
    std::vector<std::vector<uint32_t>> by_name_; // groups
};

} // namespace btflink::merge
