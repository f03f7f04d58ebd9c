// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Builds the conflict graph. merge/dedup/README.md explains the algorithm.
//
// Method.
//  1. Find the conflicts, and what reaches one (find_affected.cc).
//  2. Give each class its role. Cycles without a struct, which C does not have, are cut: at least
//     one class on each becomes a node, like unnamed structs. So the types between nodes have no
//     cycles.
//  3. Collect the nodes of each object, and the types between them, by their classes alone.
//  4. Find the slots of each class, and the targets of each node's slots (make_edges.cc).
//
// The types of a base are deduplicated already. If two structs of a base have the same name and the
// same stub hash, the two differ in a type that they reach, possibly one that does not take part.
// So the name is a conflict, too, and these twins are never equal.
//
// Cost. The class of each type once, the references of each class a few times; the rest is
// proportional to the affected part.
#include "merge/dedup/conflicts/conflict_graph.h"

#include "common/graph/graphs.h"
#include "common/io/trace.h"

namespace btflink::merge
{

namespace
{

Role role_of(const ClassGraph &graph, const ConflictGraph &out, ClassId c)
{
    const bool named = graph.name[c] != NameId::none && out.affected_names[graph.name[c]];
    if (graph.is_forward(graph.alias[c]))
        return named ? role_forward : role_final;
    if (named || (btf::is_composite(graph.kind[c]) && out.affected_classes[c]))
        return role_node;
    return out.affected_classes[c] ? role_between : role_final;
}

/// Turns at least one class on each cycle of types between nodes into a node: each class that a
/// walk meets again while the class is open. Walks begin at classes in ascending order, so the
/// choice depends on link order alone. Equal types become one, whichever class is cut. Duplicates
/// can remain only on a cycle that refers to a forward declaration: nodes resolve the declaration,
/// types between nodes do not.
void cut_cycles(const ClassGraph &graph, ConflictGraph &out)
{
    IdVector<ClassId, uint8_t> state(graph.size(), walk::fresh);
    std::vector<ClassId> stack;
    auto expand = [&](ClassId c, auto need) {
        for (ClassId ref : graph.refs[c]) {
            if (ref == ClassId::none || out.role[graph.alias[ref]] != role_between)
                continue;
            const ClassId to = graph.alias[ref];
            if (state[to] == walk::open) // it is still on the walk's path
                out.role[to] = role_node;
            need(to);
        }
    };
    for (ClassId c : graph.classes())
        if (out.role[c] == role_between && graph.alias[c] == c)
            post_order(
                c, [&](ClassId at) -> uint8_t & { return state[at]; }, stack, expand,
                [](ClassId) {});
}

/// Step 2.
void give_roles(const ClassGraph &graph, ConflictGraph &out)
{
    trace::Phase phase("give_roles");
    for (ClassId c : graph.classes())
        out.role.push_back(role_of(graph, out, c));
    cut_cycles(graph, out);
    out.slot_name.assign(graph.size(), NameId::none);
    out.slot_names = static_cast<uint32_t>(graph.names.size());
    for (ClassId c : graph.classes()) {
        if (out.role[c] != role_node && out.role[c] != role_forward)
            continue;
        if (graph.name[c] != NameId::none)
            out.slot_name[c] = graph.name[c];
        else if (graph.alias[c] == c)
            out.slot_name[c] = NameId{out.slot_names++};
    }
}

/// Step 3.
void collect_nodes(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   ConflictGraph &out)
{
    trace::Phase phase("collect_nodes");
    IdVector<ClassId, uint8_t> affected(graph.size(), false);
    for (ClassId c : graph.classes())
        affected[c] = out.role[graph.alias[c]] != role_final;
    for (uint32_t s = 0; s < sources.list.size(); ++s) {
        out.node_begin.push_back(out.nodes.next_id());
        out.between_begin.push_back(static_cast<uint32_t>(out.between.size()));
        sources.list[s].for_types([&](TypeId id, size_t index) {
            if (classes.of[index] == ClassId::none || !affected[classes.of[index]])
                return;
            const ClassId c = graph.alias[classes.of[index]];
            if (out.role[c] == role_between)
                out.between.push_back(id);
            else
                out.nodes.push_back(
                    {s, id, out.role[c] == role_node ? c : ClassId::none, out.slot_name[c]});
        });
    }
    out.node_begin.push_back(out.nodes.next_id());
    out.between_begin.push_back(static_cast<uint32_t>(out.between.size()));
}

/// Marks the definitions in a base that have the stub hash of an earlier definition.
void mark_twins(const Sources &sources, const Classes &classes, ConflictGraph &out)
{
    if (!sources.has_base)
        return;
    IdVector<ClassId, bool> seen(classes.first.size(), false);
    for (NodeId n : out.nodes_of(0)) {
        const ClassId c = classes.of[sources.index(0, out.nodes[n].type)];
        out.twins.push_back(out.is_definition(n) && seen[c]);
        seen[c] = true;
    }
}

} // namespace

NodeId ConflictGraph::node_at(size_t source, TypeId type) const
{
    auto begin = nodes.begin() + raw(node_begin[source]);
    auto end = nodes.begin() + raw(node_begin[source + 1]);
    auto it =
        std::lower_bound(begin, end, type, [](const Node &n, TypeId t) { return n.type < t; });
    return it != end && it->type == type ? NodeId{static_cast<uint32_t>(it - nodes.begin())}
                                         : NodeId::none;
}

ConflictGraph make_conflict_graph(const Sources &sources, const Classes &classes,
                                  const ClassGraph &graph)
{
    ConflictGraph out;
    find_affected(sources, classes, graph, out);
    if (!out.count)
        return out;
    give_roles(graph, out);
    collect_nodes(sources, classes, graph, out);
    mark_twins(sources, classes, out);
    make_slots(graph, out);
    make_edges(sources, classes, graph, out);
    declare_enum_slots(graph, out);
    return out;
}

} // namespace btflink::merge
