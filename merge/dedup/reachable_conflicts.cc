// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Two structs of one class may reach different definitions of some name, any number of
// pointers away. Thousands of objects, each with hundreds of structs that reach each other: to
// compare structs by walking from each is what makes other deduplicators hang.
//
// Method. In an object a hot name stands for one node. So what a node reaches is a set of names,
// and what these mean is told by the marks among them: definitions of conflicting names (which of
// them?) and holes. Strongly connected nodes reach the same; marks are gathered as bit sets, one
// per component, those of what it refers to being done before. The view of a node is the list of
// the marks that it reaches, as numbers that mean the same in all objects.
//
// Why it is right. Take two nodes of one class with equal views and walk from both in step. Equal
// stubs reach equal names. If a name is no mark it is defined in both objects, and it has one
// definition class only; if it is a mark both have the same. So no step ever differs.
//
// Objects that have two nodes of one name are exact: a name does not tell what it stands for there.
// Their nodes have no view; equal ones among them are found by refinement inside the object.
//
// Cost. Nodes and edges once, with one bit per mark for each; 16 bytes of hash per distinct view,
// which is believed as stub hashes are (group_by_hash.cc).
#include "merge/dedup/reachable_conflicts.h"

#include "merge/dedup/hash_bits.h"
#include "merge/parallel.h"

#include <cstring>

namespace btflink::merge
{

namespace
{

/// Marks of names, apart from classes.
constexpr uint32_t hole_bit = uint32_t{1} << 31;

/// What is compared of a view.
std::vector<uint32_t> view_key(std::vector<uint32_t> marks)
{
    if (hashes_believed && marks.size() > 4) {
        XXH128_hash_t h = XXH3_128bits(marks.data(), marks.size() * 4);
        marks.resize(5);
        marks[4] = static_cast<uint32_t>(-1); // no mark: this is a hash
        std::memcpy(marks.data(), &h, sizeof h);
    }
    return marks;
}

/// One object's views.
class Viewer
{
public:
    Viewer(const ClassGraph &graph, const HotGraph &hot, size_t source)
        : graph_(graph), hot_(hot), begin_(hot.node_begin[source]),
          count_(hot.node_begin[source + 1] - begin_)
    {
    }

    struct Component {
        std::vector<uint32_t> key;
        bool open;
    };
    std::vector<Component> components;
    std::vector<uint32_t> of; // per node: its component

    void run()
    {
        for (uint32_t i = 0; i < count_; ++i)
            if (uint32_t mark = mark_of(i); mark != none) {
                bit_of_.emplace_back(i);
                marks_.push_back(mark);
            }
        words_ = (marks_.size() + 63) / 64;
        of.assign(count_, none);
        low_.assign(count_, 0);
        bit_.assign(count_, none);
        for (uint32_t b = 0; b < bit_of_.size(); ++b)
            bit_[bit_of_[b]] = b;
        for (uint32_t i = 0; i < count_; ++i)
            if (low_[i] == 0)
                walk(i);
    }

private:
    uint32_t mark_of(uint32_t i) const
    {
        const Node &node = hot_.nodes[begin_ + i];
        if (node.is_hole())
            return hole_bit | node.name;
        bool conflict =
            node.name < graph_.names.size() && graph_.names[node.name].definitions.size() > 1;
        return conflict ? node.cls : none;
    }

    std::span<const uint32_t> edges(uint32_t i) const
    {
        uint64_t first = hot_.edge_begin[begin_ + i];
        return std::span(hot_.edges).subspan(first, hot_.edge_begin[begin_ + i + 1] - first);
    }

    /// Tarjan's components, with a stack of its own: chains are as long as there are nodes.
    void walk(uint32_t root)
    {
        enter(root);
        while (!calls_.empty()) {
            auto &[at, next] = calls_.back();
            auto out = edges(at);
            if (next < out.size()) {
                uint32_t to = out[next++];
                if (to == none)
                    continue;
                to -= begin_;
                if (low_[to] == 0)
                    enter(to);
                else if (of[to] == none)
                    low_[at] = std::min(low_[at], low_[to]);
                continue;
            }
            uint32_t done = at;
            bool leads = low_[done] == index_of(done);
            calls_.pop_back();
            if (!calls_.empty())
                low_[calls_.back().first] = std::min(low_[calls_.back().first], low_[done]);
            if (leads)
                close(done);
        }
    }

    void enter(uint32_t i)
    {
        low_[i] = ++entered_;
        if (order_.size() < count_)
            order_.resize(count_);
        order_[i] = entered_;
        open_.push_back(i);
        calls_.emplace_back(i, 0);
    }
    uint32_t index_of(uint32_t i) const { return order_[i]; }

    /// The nodes of open_ from `head` on are a component, and what they refer to is done.
    void close(uint32_t head)
    {
        auto number = static_cast<uint32_t>(components.size());
        std::vector<uint64_t> bits(words_);
        size_t first = open_.size();
        do
            of[open_[--first]] = number;
        while (open_[first] != head);
        for (size_t k = first; k < open_.size(); ++k) {
            uint32_t i = open_[k];
            if (bit_[i] != none)
                bits[bit_[i] / 64] |= uint64_t{1} << bit_[i] % 64;
            for (uint32_t to : edges(i)) {
                uint32_t other = to == none ? number : of[to - begin_];
                if (other != number)
                    for (size_t w = 0; w < words_; ++w)
                        bits[w] |= bits_[other * words_ + w];
            }
        }
        open_.resize(first);
        bits_.insert(bits_.end(), bits.begin(), bits.end());
        std::vector<uint32_t> reached;
        bool holes = false;
        for (size_t b = 0; b < marks_.size(); ++b)
            if (bits[b / 64] >> b % 64 & 1) {
                reached.push_back(marks_[b]);
                holes |= (marks_[b] & hole_bit) != 0;
            }
        std::sort(reached.begin(), reached.end());
        components.push_back({view_key(std::move(reached)), holes});
    }

    const ClassGraph &graph_;
    const HotGraph &hot_;
    uint32_t begin_, count_;
    std::vector<uint32_t> marks_, bit_of_, bit_; // per bit its mark and node; per node its bit
    size_t words_ = 0;
    std::vector<uint64_t> bits_; // words_ per component
    std::vector<uint32_t> low_, order_, open_;
    std::vector<std::pair<uint32_t, size_t>> calls_;
    uint32_t entered_ = 0;
};

/// Equal nodes of an exact object: refinement by paths, until no class splits.
void find_twins(const HotGraph &hot, size_t source, std::vector<uint32_t> &twin)
{
    uint32_t begin = hot.node_begin[source], end = hot.node_begin[source + 1];
    std::vector<uint32_t> colour(end - begin), next(end - begin), key;
    for (uint32_t n = begin; n < end; ++n)
        colour[n - begin] =
            hot.nodes[n].is_hole() ? none - 1 - hot.nodes[n].name : hot.nodes[n].cls;
    for (size_t groups = 0;;) {
        VectorIndex index;
        std::vector<uint32_t> lowest;
        for (uint32_t n = begin; n < end; ++n) {
            key.assign(1, colour[n - begin]);
            if (hot.paths[n])
                for (const Path &p : *hot.paths[n])
                    key.push_back(p.target == none ? none : colour[p.target - begin]);
            if (hot.paths[n] && hot.paths[n]->empty())
                key.push_back(n);
            auto [number, added] = index.add(key);
            if (added)
                lowest.push_back(n);
            next[n - begin] = number;
            twin[n] = lowest[number];
        }
        colour = next;
        if (index.size() == groups)
            return;
        groups = index.size();
    }
}

} // namespace

Views make_views(const Sources &sources, const ClassGraph &graph, const HotGraph &hot,
                 unsigned threads)
{
    Views out;
    size_t count = sources.list.size();
    out.of.assign(hot.nodes.size(), none);
    out.twin.assign(hot.nodes.size(), none);
    out.exact.assign(count, false);
    for (size_t s = 0; s < count; ++s)
        for (uint32_t n = hot.node_begin[s]; n < hot.node_begin[s + 1] && !out.exact[s]; ++n)
            out.exact[s] = hot.paths[n] != nullptr;
    std::vector<Viewer> viewers;
    viewers.reserve(count);
    for (size_t s = 0; s < count; ++s)
        viewers.emplace_back(graph, hot, s);
    parallel_for(count, threads, [&](size_t s) {
        if (out.exact[s])
            find_twins(hot, s, out.twin);
        else
            viewers[s].run();
    });
    VectorIndex index;
    std::vector<uint32_t> numbers;
    for (size_t s = 0; s < count; ++s) {
        if (out.exact[s])
            continue;
        numbers.clear();
        for (const Viewer::Component &c : viewers[s].components) {
            auto [number, added] = index.add(c.key);
            if (added)
                out.open.push_back(c.open);
            numbers.push_back(number);
        }
        for (uint32_t i = 0; i < viewers[s].of.size(); ++i)
            out.of[hot.node_begin[s] + i] = numbers[viewers[s].of[i]];
    }
    return out;
}

} // namespace btflink::merge
