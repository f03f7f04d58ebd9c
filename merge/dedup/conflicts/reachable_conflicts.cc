// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Computes, for each node, the set of conflicts and forward declarations that it reaches. With
// these sets, most comparisons of structs compare two numbers. merge/dedup/README.md explains why
// this is right.
//
// Problem. Two structs of one class may reach different definitions of a name any number of
// pointers away. Thousands of objects may have hundreds of nodes each, which reach each other, so a
// walk from every node would take too long.
//
// Method. In an object an affected name means one node. The elements of sets are the definitions of
// names with several definitions, and the forward declarations of affected names. Nodes of a
// strongly connected component reach the same set. So each component has a bit set, computed from
// those of the components to which it refers. Finally the bit sets become lists of elements, whose
// numbers mean the same in all objects.
//
// If a base merely declares a struct that objects define, two structs that reach different
// definitions of it may still refer to the same type of the base. Then they are equal although
// their sets differ. So all definitions of a name that the base declares are elements, even if
// there is only one. They count as forward declarations (has_forward), so structs whose sets differ
// are compared slot by slot (agreeing_pairs.cc).
//
// In an ambiguous object two nodes share a name, so a name does not determine the target of a slot.
// The nodes of such an object have no set; partition refinement inside the object finds equal
// nodes. An object with wrong hashes (has_false_hashes() in make_edges.cc) and a base with twins
// are treated as ambiguous, too. Twins differ in a type that they reach, but may reach the same
// set, because only some types of the base take part in the deduplication.
//
// Cost. Each node and edge a few times. Each component, and each edge between components, costs one
// bit per element in the object. A set of more than four elements is kept as a hash of 16 bytes,
// which is trusted like stub hashes (group_by_hash.cc).
#include "merge/dedup/conflicts/conflict_graph.h"

#include "common/graph/graphs.h"
#include "common/io/parallel.h"
#include "merge/dedup/hash_bits.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace btflink::merge
{

namespace
{

constexpr size_t small_graph = 4096; // fewer nodes are not worth a thread; a module has fewer

/// A number for a node that means the same in all objects, for sets and initial partitions: its
/// class; for a forward declaration its name, numbered after all classes.
uint32_t element_of(const ClassGraph &graph, const Node &node)
{
    return node.is_forward() ? static_cast<uint32_t>(graph.size()) + raw(node.name) : raw(node.cls);
}

/// The key for comparing sets.
std::vector<uint32_t> set_key(std::vector<uint32_t> elements)
{
    if (trust_hashes && elements.size() > 4) {
        XXH128_hash_t h = XXH3_128bits(elements.data(), elements.size() * 4);
        elements.assign(5, 0); // other keys have at most four words
        std::memcpy(elements.data(), &h, sizeof h);
    }
    return elements;
}

/// The sets that the nodes of one object reach.
struct ObjectSets {
    struct Set {
        std::vector<uint32_t> key;
        bool has_forward;
    };
    std::vector<uint32_t> component; // per node
    std::vector<Set> sets;           // per component
};

/// Rows of bits, one per component. A row has a bit for each node of the object that is an element.
struct BitRows {
    std::vector<uint32_t> element; // per bit
    std::vector<bool> is_declared; // per bit: a declaration, or a name that the base declares
    std::vector<uint32_t> bit;     // per node; or no_number
    size_t words = 0;              // per row
    std::vector<uint64_t> rows;

    void set(size_t row, size_t at) { rows[row * words + at / 64] |= uint64_t{1} << at % 64; }
    bool has(size_t row, size_t at) const { return rows[row * words + at / 64] >> at % 64 & 1; }
    void add(size_t row, size_t other)
    {
        for (size_t w = 0; w < words; ++w)
            rows[row * words + w] |= rows[other * words + w];
    }
};

BitRows number_bits(const ClassGraph &graph, const ConflictGraph &conflicts, IdRange<NodeId> nodes,
                    const IdVector<NameId, bool> &declared_by_base)
{
    BitRows out;
    for (NodeId n : nodes) {
        const Node &node = conflicts.nodes[n];
        const bool has_name = raw(node.name) < graph.names.size();
        const bool is_conflict = has_name && graph.names[node.name].definitions.size() > 1;
        const bool is_declared = node.is_forward() || (has_name && declared_by_base[node.name]);
        if (!is_conflict && !is_declared) {
            out.bit.push_back(no_number);
            continue;
        }
        out.bit.push_back(static_cast<uint32_t>(out.element.size()));
        out.element.push_back(element_of(graph, node));
        out.is_declared.push_back(is_declared);
    }
    out.words = (out.element.size() + 63) / 64;
    return out;
}

/// The set of the elements whose bits are set in a row.
ObjectSets::Set make_set(const BitRows &bits, size_t row)
{
    std::vector<uint32_t> reached;
    bool has_forward = false;
    for (size_t b = 0; b < bits.element.size(); ++b)
        if (bits.has(row, b)) {
            reached.push_back(bits.element[b]);
            has_forward |= bits.is_declared[b];
        }
    std::sort(reached.begin(), reached.end());
    return {set_key(std::move(reached)), has_forward};
}

ObjectSets find_sets(const ClassGraph &graph, const ConflictGraph &conflicts, size_t source,
                     const IdVector<NameId, bool> &declared_by_base)
{
    const IdRange<NodeId> nodes = conflicts.nodes_of(source);
    const uint32_t begin = raw(conflicts.node_begin[source]);
    auto for_targets = [&](uint32_t i, auto visit) {
        for (NodeId target : conflicts.edges_of(NodeId{begin + i}))
            if (target != NodeId::none)
                visit(raw(target) - begin);
    };
    ObjectSets out{strong_components(nodes.size(), for_targets), {}};
    const std::vector<uint32_t> &component = out.component;
    const size_t count =
        component.empty() ? 0 : *std::max_element(component.begin(), component.end()) + size_t{1};
    const auto members = Lists<>::make(count, [&](auto put) {
        for (uint32_t i = 0; i < nodes.size(); ++i)
            put(component[i], i);
    });
    BitRows bits = number_bits(graph, conflicts, nodes, declared_by_base);
    bits.rows.resize(count * bits.words);
    for (uint32_t c = 0; c < count; ++c) { // its successors have lower numbers
        for (uint32_t i : members[c]) {
            if (bits.bit[i] != no_number)
                bits.set(c, bits.bit[i]);
            for_targets(i, [&](uint32_t to) {
                if (component[to] != c)
                    bits.add(c, component[to]);
            });
        }
        out.sets.push_back(make_set(bits, c));
    }
    return out;
}

/// Finds the canonical nodes of an ambiguous object, by partition refinement over paths.
void find_canonical(const ClassGraph &graph, const ConflictGraph &conflicts, size_t source,
                    IdVector<NodeId, NodeId> &canonical)
{
    const IdRange<NodeId> nodes = conflicts.nodes_of(source);
    const auto beyond = static_cast<uint32_t>(graph.size() + graph.names.size()); // end of elements
    const uint32_t begin = raw(conflicts.node_begin[source]);
    std::vector<uint32_t> block, vertices(nodes.size());
    std::iota(vertices.begin(), vertices.end(), 0);
    for (NodeId n : nodes) {
        const bool twin = raw(n) < conflicts.twins.size() && conflicts.twins[raw(n)];
        block.push_back(twin ? beyond + raw(n) : element_of(graph, conflicts.nodes[n]));
    }
    size_t count =
        refine<VectorIndex>(vertices, block, 0, [&](uint32_t v, std::vector<uint32_t> &key) {
            const Paths *paths = conflicts.paths[NodeId{begin + v}].get();
            if (!paths)
                return;
            for (const Path &p : *paths)
                key.push_back(p.target == NodeId::none ? no_number : block[raw(p.target) - begin]);
            if (paths->empty()) // equals no other node, so this word is in no other key
                key.push_back(no_number - 1 - v);
        });
    std::vector<NodeId> lowest(count, NodeId::none);
    for (NodeId n : nodes) {
        NodeId &same = lowest[block[raw(n) - begin]];
        canonical[n] = same = std::min(same, n);
    }
}

/// By affected name: does the base declare it?
IdVector<NameId, bool> names_declared_by_base(const Sources &sources, const Classes &classes,
                                              const ClassGraph &graph,
                                              const ConflictGraph &conflicts)
{
    IdVector<NameId, bool> out(graph.names.size());
    for (NameId n : graph.names.ids())
        out[n] = conflicts.affected_names[n] && base_declares(sources, classes, graph, n);
    return out;
}

/// By source: does a node have paths, or are there twins (in a base)?
std::vector<bool> find_ambiguous(const Sources &sources, const ConflictGraph &conflicts)
{
    std::vector<bool> out(sources.list.size());
    for (NodeId n : conflicts.nodes.ids())
        if (conflicts.paths[n])
            out[conflicts.nodes[n].source] = true;
    if (std::ranges::find(conflicts.twins, true) != conflicts.twins.end())
        out[0] = true;
    return out;
}

/// Numbers the sets of all objects that are not ambiguous: sets with equal elements have one
/// number.
void number_sets(const ConflictGraph &conflicts, const std::vector<ObjectSets> &objects,
                 ReachableConflicts &out)
{
    VectorIndex index;
    std::vector<uint32_t> numbers; // per component of an object
    for (size_t s = 0; s < objects.size(); ++s) {
        if (out.ambiguous[s])
            continue;
        numbers.clear();
        for (const ObjectSets::Set &set : objects[s].sets) {
            auto [number, added] = index.add(set.key);
            if (added)
                out.has_forward.push_back(set.has_forward);
            numbers.push_back(number);
        }
        auto component = objects[s].component.begin();
        for (NodeId n : conflicts.nodes_of(s))
            out.set_of[n] = numbers[*component++];
    }
}

} // namespace

ReachableConflicts find_reachable_conflicts(const Sources &sources, const Classes &classes,
                                            const ClassGraph &graph, const ConflictGraph &conflicts,
                                            unsigned threads)
{
    trace::Phase phase("reachable_conflicts");
    ReachableConflicts out;
    out.set_of.assign(conflicts.nodes.size(), no_number);
    out.canonical.assign(conflicts.nodes.size(), NodeId::none);
    out.ambiguous = find_ambiguous(sources, conflicts);
    const IdVector<NameId, bool> declared =
        names_declared_by_base(sources, classes, graph, conflicts);
    std::vector<ObjectSets> objects(sources.list.size());
    parallel_for(objects.size(), conflicts.nodes.size() < small_graph ? 1u : threads,
                 [&](size_t s) {
                     if (out.ambiguous[s])
                         find_canonical(graph, conflicts, s, out.canonical);
                     else
                         objects[s] = find_sets(graph, conflicts, s, declared);
                 });
    number_sets(conflicts, objects, out);
    return out;
}

} // namespace btflink::merge
