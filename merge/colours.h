// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3b: which nodes of the hot graph are the same.
#pragma once

#include "merge/hot_graph.h"

namespace btflink::merge
{

// Values of slots that are no node.
constexpr uint32_t wild = UINT32_MAX;            // agrees with any
constexpr uint32_t irregular = UINT32_MAX - 1;   // first word of a vector by paths, not by names
constexpr uint32_t declared = uint32_t{1} << 31; // | name: nothing but its declaration

class Colours
{
public:
    Colours(const Sources &sources, const Classes &classes, const ClassGraph &graph,
            const HotGraph &hot, unsigned threads);

    /// The node that leads the group of `node`, which is no hole. Groups are what is the same.
    uint32_t of(uint32_t node) const { return colour_[node]; }
    /// The only group of all definitions of a name; none: there are several.
    uint32_t only(uint32_t name) const { return only_[name]; }
    /// What a hole was completed by, as its group; none: nothing.
    uint32_t pinned(uint32_t hole) const { return pin_[hole] == none ? none : colour_[pin_[hole]]; }
    /// The values of a node's slots: groups, `wild`, or `declared` | name; or {irregular, ...}.
    void vector_of(uint32_t node, std::vector<uint32_t> &out) const;
    uint64_t rounds() const { return rounds_; }

private:
    struct Vectors;
    void settle();
    void refine_rounds();
    void find_only(uint32_t name);
    uint32_t value(uint32_t target, uint32_t name) const;
    Vectors vectors_of(uint32_t c, bool sticky) const;
    std::vector<uint32_t> group(uint32_t c, bool sticky) const;
    bool complete();

    const Sources &sources_;
    const Classes &classes_;
    const ClassGraph &graph_;
    const HotGraph &hot_;
    unsigned threads_;
    std::vector<uint32_t> colour_; // per node
    std::vector<uint32_t> only_;   // per name
    std::vector<uint32_t> pin_;    // per hole: the node that it stands for, or none
    std::vector<bool> strict_;     // per class: groups only of what their leader covers
    uint64_t rounds_ = 0;
};

} // namespace btflink::merge
