// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the slots of each class, and the nodes to which the slots of each node lead.
//
// Problem. Thousands of objects may have hundreds of nodes each, whose types should not be read
// again.
//
// Method. All types of a class refer to the same names, so slots are found once per class. Usually
// a name has one node in an object. Then the slots of a node's class and the names of the object's
// nodes give the node's edges. In an ambiguous object several nodes share a name. There the types
// between nodes are walked, and a node has one path for each way to another node:
//
//     typedef struct dev outer;                  at file level
//     struct bus { outer *a; struct dev *b; };   in a function that defines its own struct dev
//     slots of bus: dev                          paths of bus: (dev, first dev), (dev, second dev)
//
// Last, targets that would make the order of the objects matter are removed: definitions of enums
// that another object only declares.
//
// Cost. For each class, the classes between it and its slots; for each node, its slots. In an
// ambiguous object, walks have limits (below). A node whose walk exceeds one of them equals no
// other node: this may leave duplicates, but never merges types that differ.
#include "merge/dedup/conflicts/conflict_graph.h"

#include "common/io/trace.h"

#include <algorithm>
#include <utility>

namespace btflink::merge
{

namespace
{

// The walk for one node may follow this many references. The walks for all nodes of an object
// together may follow this many, and most_references_per_type more for each type and each word of
// the object. In kernels, one walk follows up to 2742, and the walks of an object eight per type.
constexpr size_t most_references = 65536;
constexpr size_t most_references_per_type = 64;

/// An object has a node for each affected name that its types refer to. If a class has more slots
/// than the object has nodes, the hashes in the object are wrong.
bool has_false_hashes(const ConflictGraph &graph, NodeId n)
{
    const Node &node = graph.nodes[n];
    return graph.slots[node.cls].size() > graph.nodes_of(node.source).size();
}

/// The paths of a node. Empty if the walk exceeds a limit. `left`: references that the walks for
/// this and the following nodes of the object may follow.
Paths find_paths(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                 const ConflictGraph &conflicts, NodeId node, size_t &left)
{
    const uint32_t source = conflicts.nodes[node].source;
    const std::span slots = conflicts.slots[conflicts.nodes[node].cls];
    using NamedSlot = std::pair<NameId, SlotId>;
    std::vector<NamedSlot> by_name; // sorted, because a class may have very many slots
    for (uint32_t i = 0; i < slots.size(); ++i)
        by_name.emplace_back(slots[i], SlotId{i});
    std::ranges::sort(by_name);
    Paths out;
    std::vector<TypeId> stack{conflicts.nodes[node].type};
    size_t most = std::min(left, most_references);
    while (!stack.empty()) {
        const btf_type &type = sources.type({source, stack.back()});
        stack.pop_back();
        const size_t references = size_t{btf::vlen_of(type)} + 2; // at most
        if (references > most)
            return {};
        most -= references;
        left -= references;
        btf::for_each_type_id(type, [&](uint32_t ref) {
            if (!ref)
                return;
            const ClassId own = classes.of[sources.index(source, TypeId{ref})];
            if (own == ClassId::none) // in a base: a type that does not take part
                return;
            const ClassId c = graph.alias[own];
            if (conflicts.role[c] == role_between)
                stack.push_back(TypeId{ref});
            const NameId name = conflicts.slot_name[c];
            const auto slot = std::ranges::lower_bound(by_name, name, {}, &NamedSlot::first);
            if (slot != by_name.end() && slot->first == name)
                out.push_back({slot->second, conflicts.node_at(source, TypeId{ref})});
        });
    }
    return out;
}

/// Sets the edges of a definition, and its paths if its object is ambiguous. `left`: see
/// find_paths().
void add_edges(const Sources &sources, const Classes &classes, const ClassGraph &graph, NodeId n,
               const IdVector<NameId, NodeId> &of_name, bool ambiguous, size_t &left,
               ConflictGraph &out)
{
    if (has_false_hashes(out, n)) {
        out.paths[n] = std::make_unique<Paths>(); // equals no other node
        return;
    }
    const std::span slots = out.slots[out.nodes[n].cls];
    for (NameId slot : slots)
        out.edges.push_back(of_name[slot]);
    if (ambiguous && !slots.empty())
        out.paths[n] = std::make_unique<Paths>(find_paths(sources, classes, graph, out, n, left));
}

/// `of_name`: scratch space for the last node of each name. All are none before and after.
void make_edges_of(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   size_t source, IdVector<NameId, NodeId> &of_name, ConflictGraph &out)
{
    bool ambiguous = false;
    for (NodeId n : out.nodes_of(source))
        ambiguous |= std::exchange(of_name[out.nodes[n].name], n) != NodeId::none;
    const Source &types = sources.list[source];
    const size_t size = types.count + types.btf->words().size(); // interned types have no words()
    size_t left = most_references + size * most_references_per_type; // see find_paths()
    for (NodeId n : out.nodes_of(source)) {
        out.edge_begin.push_back(out.edges.size());
        if (out.is_definition(n))
            add_edges(sources, classes, graph, n, of_name, ambiguous, left, out);
    }
    for (NodeId n : out.nodes_of(source))
        of_name[out.nodes[n].name] = NodeId::none;
}

/// An edge or path whose slot is the name of an enum.
struct EnumEdge {
    size_t slot; // index into slots.items
    NodeId *target;
};

/// The enum edges of all structs and unions.
std::vector<EnumEdge> find_enum_edges(const ClassGraph &graph, ConflictGraph &conflicts)
{
    std::vector<EnumEdge> out;
    auto is_enum = [&](NameId n) { return raw(n) < graph.names.size() && graph.names[n].is_enum; };
    if (std::ranges::none_of(conflicts.slots.items, is_enum))
        return out;
    auto add = [&](size_t slot, NodeId &target) {
        if (target != NodeId::none && is_enum(conflicts.slots.items[slot]))
            out.push_back({slot, &target});
    };
    for (NodeId n : conflicts.nodes.ids()) {
        if (!conflicts.is_definition(n) || !btf::is_composite(graph.kind[conflicts.nodes[n].cls]))
            continue;
        const size_t first = conflicts.slots.begin(conflicts.nodes[n].cls);
        for (size_t i = 0; i < conflicts.edges_of(n).size(); ++i)
            add(first + i, conflicts.edges[conflicts.edge_begin[n] + i]);
        if (conflicts.paths[n])
            for (Path &path : *conflicts.paths[n])
                add(first + raw(path.slot), path.target);
    }
    return out;
}

} // namespace

void make_slots(const ClassGraph &graph, ConflictGraph &out)
{
    trace::Phase phase("make_slots");
    // A walk is identified by the class at which it begins. `seen`: for each class, the last walk
    // that visited it. `listed`: for each name, the last walk that listed it.
    IdVector<ClassId, ClassId> seen(graph.size(), ClassId::none);
    IdVector<NameId, ClassId> listed(out.slot_names, ClassId::none);
    std::vector<ClassId> pending; // `c`, and classes of types between nodes
    for (ClassId c : graph.classes()) {
        if (out.role[c] == role_node && out.affected_classes[c] && graph.alias[c] == c)
            pending.push_back(c);
        while (!pending.empty()) {
            const std::span refs = graph.refs[pending.back()];
            pending.pop_back();
            for (size_t i = refs.size(); i--;) {
                if (refs[i] == ClassId::none)
                    continue;
                const ClassId ref = graph.alias[refs[i]];
                const NameId name = out.slot_name[ref];
                if (name != NameId::none) {
                    if (std::exchange(listed[name], c) != c)
                        out.slots.items.push_back(name);
                } else if (out.role[ref] == role_between && std::exchange(seen[ref], c) != c) {
                    pending.push_back(ref);
                }
            }
        }
        out.slots.ends.push_back(static_cast<uint32_t>(out.slots.items.size()));
    }
}

void make_edges(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                ConflictGraph &out)
{
    trace::Phase phase("make_edges");
    out.paths.resize(out.nodes.size());
    IdVector<NameId, NodeId> of_name(out.slot_names, NodeId::none);
    for (size_t s = 0; s < sources.list.size(); ++s)
        make_edges_of(sources, classes, graph, s, of_name, out);
    out.edge_begin.push_back(out.edges.size());
}

void declare_enum_slots(const ClassGraph &graph, ConflictGraph &out)
{
    const std::vector<EnumEdge> edges = find_enum_edges(graph, out);
    std::vector<bool> declared(edges.empty() ? 0 : out.slots.items.size()); // by some object
    for (const EnumEdge &edge : edges)
        if (!out.is_definition(*edge.target))
            declared[edge.slot] = true;
    for (const EnumEdge &edge : edges)
        if (declared[edge.slot] && out.is_definition(*edge.target))
            *edge.target = NodeId::none;
}

} // namespace btflink::merge
