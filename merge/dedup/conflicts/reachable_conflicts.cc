// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Computes, for each node, the set of conflicts and forward declarations that it reaches. This
// makes most comparisons of structs a comparison of two numbers. README.md tells why that is right.
//
// Problem. Two structs of one class may reach different definitions of a name any number of
// pointers away. Thousands of objects have hundreds of structs each, and these reach each other: a
// walk from every struct takes too long.
//
// Method. In an object an affected name stands for one node. The elements of sets are the
// definitions of conflicting names and the forward declarations. Nodes of a strongly connected
// component reach the same set. Sets are bit sets, one per component, computed from the components
// that it refers to. Then they become lists of elements, whose numbers mean the same in all
// objects.
//
// In ambiguous objects, which have two nodes of one name, a name does not tell a node. Their nodes
// have no set; equal nodes are found by partition refinement inside the object. A base with twins
// (conflict_graph.cc) is ambiguous, too: their sets may be equal, as not all of it takes part.
//
// Cost. Nodes and edges once, with one bit per element for each; 16 bytes of hash per distinct set.
// This hash is trusted as stub hashes are (group_by_hash.cc).
#include "merge/dedup/conflicts/reachable_conflicts.h"

#include "common/graph/refine.h"
#include "common/io/parallel.h"
#include "merge/dedup/hash_bits.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace btflink::merge
{

namespace
{

/// The elements of sets, and of partitions at first: the classes, then the names that are declared.
class Elements
{
public:
    explicit Elements(const ClassGraph &graph)
        : classes_(static_cast<uint32_t>(graph.size())),
          names_(static_cast<uint32_t>(graph.names.size()))
    {
    }

    uint32_t of(const Node &node) const
    {
        return node.is_forward() ? classes_ + raw(node.name) : raw(node.cls);
    }
    bool is_forward(uint32_t element) const { return element >= classes_; }
    /// Numbers that are no elements.
    uint32_t beyond(uint32_t i) const { return classes_ + names_ + i; }

private:
    uint32_t classes_, names_;
};

/// The key by which sets are compared.
std::vector<uint32_t> set_key(std::vector<uint32_t> elements)
{
    if (hashes_believed && elements.size() > 4) {
        XXH128_hash_t h = XXH3_128bits(elements.data(), elements.size() * 4);
        elements.assign(5, 0); // one more than what is no hash may have
        std::memcpy(elements.data(), &h, sizeof h);
    }
    return elements;
}

/// The sets of one object.
class ReachOfObject
{
public:
    ReachOfObject(const ClassGraph &graph, const ConflictGraph &conflicts, size_t source)
        : graph_(graph), conflicts_(conflicts), kinds_(graph),
          begin_(raw(conflicts.node_begin[source])), count_(conflicts.nodes_of(source).size())
    {
    }

    struct Component {
        std::vector<uint32_t> key;
        bool has_forward;
    };
    std::vector<Component> components;
    std::vector<uint32_t> of; // per node of the object: its component

    void run()
    {
        for (uint32_t i = 0; i < count_; ++i)
            if (uint32_t element = element_of(i); element != no_number) {
                bit_of_.emplace_back(i);
                elements_.push_back(element);
            }
        words_ = (elements_.size() + 63) / 64;
        of.assign(count_, no_number);
        low_.assign(count_, 0);
        bit_.assign(count_, no_number);
        for (uint32_t b = 0; b < bit_of_.size(); ++b)
            bit_[bit_of_[b]] = b;
        for (uint32_t i = 0; i < count_; ++i)
            if (low_[i] == 0)
                walk(i);
    }

private:
    uint32_t element_of(uint32_t i) const
    {
        const Node &node = conflicts_.nodes[NodeId{begin_ + i}];
        const bool is_conflict =
            raw(node.name) < graph_.names.size() && graph_.names[node.name].definitions.size() > 1;
        return node.is_forward() || is_conflict ? kinds_.of(node) : no_number;
    }

    std::span<const NodeId> edges(uint32_t i) const
    {
        return conflicts_.edges_of(NodeId{begin_ + i});
    }

    /// Tarjan's algorithm, without recursion: chains may be as long as there are nodes.
    void walk(uint32_t root)
    {
        enter(root);
        while (!calls_.empty()) {
            auto &[at, next] = calls_.back();
            auto out = edges(at);
            if (next < out.size()) {
                NodeId target = out[next++];
                if (target == NodeId::none)
                    continue;
                uint32_t to = raw(target) - begin_;
                if (low_[to] == 0)
                    enter(to);
                else if (of[to] == no_number)
                    low_[at] = std::min(low_[at], low_[to]);
                continue;
            }
            uint32_t done = at;
            bool is_root = low_[done] == index_of(done);
            calls_.pop_back();
            if (!calls_.empty())
                low_[calls_.back().first] = std::min(low_[calls_.back().first], low_[done]);
            if (is_root)
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

    /// The nodes of open_ from `head` on are a component. All that it refers to is closed already.
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
            if (bit_[i] != no_number)
                bits[bit_[i] / 64] |= uint64_t{1} << bit_[i] % 64;
            for (NodeId to : edges(i)) {
                uint32_t other = to == NodeId::none ? number : of[raw(to) - begin_];
                if (other != number)
                    for (size_t w = 0; w < words_; ++w)
                        bits[w] |= bits_[other * words_ + w];
            }
        }
        open_.resize(first);
        bits_.insert(bits_.end(), bits.begin(), bits.end());
        std::vector<uint32_t> reached;
        bool has_forward = false;
        for (size_t b = 0; b < elements_.size(); ++b)
            if (bits[b / 64] >> b % 64 & 1) {
                reached.push_back(elements_[b]);
                has_forward |= kinds_.is_forward(elements_[b]);
            }
        std::sort(reached.begin(), reached.end());
        components.push_back({set_key(std::move(reached)), has_forward});
    }

    const ClassGraph &graph_;
    const ConflictGraph &conflicts_;
    Elements kinds_;
    // Nodes count from the object's first.
    uint32_t begin_, count_;
    std::vector<uint32_t> elements_, bit_of_; // per bit: its element and node
    std::vector<uint32_t> bit_;               // per node
    size_t words_ = 0;
    std::vector<uint64_t> bits_; // words_ per component
    std::vector<uint32_t> low_, order_, open_;
    std::vector<std::pair<uint32_t, size_t>> calls_;
    uint32_t entered_ = 0;
};

/// Equal nodes of an ambiguous object, by partition refinement over paths.
void find_canonical(const ClassGraph &graph, const ConflictGraph &conflicts, size_t source,
                    IdVector<NodeId, NodeId> &canonical)
{
    const Elements elements(graph);
    const IdRange<NodeId> nodes = conflicts.nodes_of(source);
    const uint32_t begin = raw(conflicts.node_begin[source]);
    std::vector<uint32_t> block, vertices(nodes.size());
    std::iota(vertices.begin(), vertices.end(), 0);
    for (NodeId n : nodes) {
        const bool twin = raw(n) < conflicts.twins.size() && conflicts.twins[raw(n)];
        block.push_back(twin ? elements.beyond(raw(n)) : elements.of(conflicts.nodes[n]));
    }
    size_t count =
        refine<VectorIndex>(vertices, block, 0, [&](uint32_t v, std::vector<uint32_t> &key) {
            const Paths *paths = conflicts.paths[NodeId{begin + v}].get();
            if (!paths)
                return;
            for (const Path &p : *paths)
                key.push_back(p.target == NodeId::none ? no_number : block[raw(p.target) - begin]);
            if (paths->empty())
                key.push_back(begin + v);
        });
    std::vector<NodeId> lowest(count, NodeId::none);
    for (NodeId n : nodes) {
        NodeId &same = lowest[block[raw(n) - begin]];
        canonical[n] = same = std::min(same, n);
    }
}

} // namespace

ReachableConflicts find_reachable_conflicts(const Sources &sources, const ClassGraph &graph,
                                            const ConflictGraph &conflicts, unsigned threads)
{
    trace::Phase phase("reachable_conflicts");
    ReachableConflicts out;
    size_t count = sources.list.size();
    out.set_of.assign(conflicts.nodes.size(), no_number);
    out.canonical.assign(conflicts.nodes.size(), NodeId::none);
    out.ambiguous.assign(count, false);
    for (size_t s = 0; s < count; ++s)
        for (NodeId n : conflicts.nodes_of(s))
            if (conflicts.paths[n]) {
                out.ambiguous[s] = true;
                break;
            }
    if (std::find(conflicts.twins.begin(), conflicts.twins.end(), true) != conflicts.twins.end())
        out.ambiguous[0] = true;
    std::vector<ReachOfObject> objects;
    objects.reserve(count);
    for (size_t s = 0; s < count; ++s)
        objects.emplace_back(graph, conflicts, s);
    parallel_for(count, threads, [&](size_t s) {
        if (out.ambiguous[s])
            find_canonical(graph, conflicts, s, out.canonical);
        else
            objects[s].run();
    });
    VectorIndex index;
    std::vector<uint32_t> numbers;
    for (size_t s = 0; s < count; ++s) {
        if (out.ambiguous[s])
            continue;
        numbers.clear();
        for (const ReachOfObject::Component &c : objects[s].components) {
            auto [number, added] = index.add(c.key);
            if (added)
                out.has_forward.push_back(c.has_forward);
            numbers.push_back(number);
        }
        auto component = objects[s].of.begin();
        for (NodeId n : conflicts.nodes_of(s))
            out.set_of[n] = numbers[*component++];
    }
    return out;
}

} // namespace btflink::merge
