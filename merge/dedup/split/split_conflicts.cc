// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the classes of equal stub hashes final: splits those whose types reach different
// definitions of a name, and resolves forward declarations. merge/dedup/README.md explains the
// algorithm.
//
// Method.
//  1. Types that reach no conflict are final. A forward declaration among them becomes an alias of
//     the definition of its name, if there is one.
//  2. Each group of nodes (join_groups.cc) is a final class.
//  3. Any other forward declaration of an object stands for the definition of its name, if there is
//     only one final class of that name. Otherwise, if the base declares the name, the first struct
//     whose group resolved a declaration of the name decides for all of the objects' declarations
//     of the name. Other declarations stay for now. In groups that resolved a declaration, step 5
//     replaces it.
//  4. Types between nodes are equal if their classes are equal and the final classes that they
//     refer to are equal (types_between.cc).
//  5. If a group resolved declarations, the types to which it refers differ from the types in its
//     representative's object. This step finds them among the types of step 4, and adds those that
//     no object has (group_references.cc).
//  6. Declarations of names with several definitions remain. If the base declares the name, they
//     stay. Otherwise a typedef that leads to such a declaration is resolved to a typedef of the
//     same name that leads to a definition, if there is one (resolve_typedefs.cc). If a struct or
//     typedef of some object resolves the name, or if the name is an enum's, the declaration is
//     resolved to the definition that adds the fewest types (resolve_forwards.cc). If not, it stays
//     a declaration.
//
// If joining has several alternatives (join_groups.cc), all steps are done for each, and the result
// with the fewest types is taken.
//
// Cost. Per alternative, a copy of all classes, and time in proportion to nodes, slots and types
// between nodes. resolve_typedefs.cc and resolve_forwards.cc state their own cost.
#include "merge/dedup/split/split_conflicts.h"

#include "common/io/trace.h"

namespace btflink::merge
{

namespace
{

/// Step 1. Copies all classes. A class that is not final becomes live when a type is assigned to
/// it.
Partition begin_partition(const Classes &classes, const ClassGraph &graph,
                          const ConflictGraph &conflicts)
{
    Partition out;
    out.alias = graph.alias;
    out.classes.reserve(graph.size());
    for (ClassId c : graph.classes())
        out.classes.push_back({classes.first[c], classes.first[c],
                               !conflicts.count || conflicts.role[c] == role_final});
    for (NameId n : graph.names.ids()) {
        const StructName &name = graph.names[n];
        if (!conflicts.affected_names[n] && name.forward != ClassId::none &&
            !name.definitions.empty())
            out.alias[name.forward] = name.definitions.front();
    }
    out.shorten_aliases();
    return out;
}

/// Step 2: final classes of nodes that are definitions.
void assign_structs(const SplitInput &in, FinalClasses &finals)
{
    trace::Phase phase("assign_structs");
    const ConflictGraph &conflicts = in.conflicts;
    finals.of_node.assign(conflicts.nodes.size(), ClassId::none);
    for (NodeId n : conflicts.nodes.ids()) {
        if (conflicts.nodes[n].is_forward())
            continue;
        const NodeId first = representative(in.groups.of[n]);
        ClassId &of_first = finals.of_node[first]; // `first` may come after `n`
        if (of_first == ClassId::none)
            of_first = finals.add(conflicts.nodes[n].cls, in.type_at(n), in.type_at(first));
        finals.of_node[n] = of_first;
    }
}

/// The group to which a slot of a group leads; none if the slot is not resolved. In an ambiguous
/// object several paths may have the slot. The first path that leads to a group then decides.
GroupId group_at_slot(const SplitInput &in, GroupId group, uint32_t slot)
{
    const NodeId node = representative(group);
    const Paths *paths = in.conflicts.paths[node].get();
    if (!paths)
        return in.groups.meaning(in.conflicts, group, in.conflicts.edges_of(node)[slot]);
    for (const Path &path : *paths)
        if (raw(path.slot) == slot)
            if (GroupId found = in.groups.meaning(in.conflicts, group, path.target);
                found != GroupId::none)
                return found;
    return GroupId::none;
}

/// The final classes for which declarations of a name may stand.
struct DeclaredName {
    std::vector<ClassId> definitions; // all, lowest group first
    // What a declaration means in the first struct whose group resolved it; or none.
    ClassId by_struct = ClassId::none;
};
using DeclaredNames = IdVector<NameId, DeclaredName>;

/// Sets DeclaredName::by_struct.
void resolve_by_structs(const SplitInput &in, const FinalClasses &finals, DeclaredNames &out)
{
    const ConflictGraph &conflicts = in.conflicts;
    for (NodeId n : conflicts.nodes.ids()) {
        if (!conflicts.is_definition(n) || in.sources.is_base(conflicts.nodes[n].source))
            continue;
        const std::span slots = conflicts.slots[conflicts.nodes[n].cls];
        const std::span targets = conflicts.edges_of(n);
        for (uint32_t i = 0; i < targets.size(); ++i) {
            const bool is_declared =
                targets[i] != NodeId::none && !conflicts.is_definition(targets[i]);
            if (!is_declared || out[slots[i]].by_struct != ClassId::none)
                continue;
            const GroupId found = group_at_slot(in, in.groups.of[n], i);
            if (found != GroupId::none)
                out[slots[i]].by_struct = finals.of_group(found);
        }
    }
}

DeclaredNames find_definitions(const SplitInput &in, const FinalClasses &finals)
{
    DeclaredNames out(in.graph.names.size());
    std::vector<GroupId> groups;
    for (NameId n : in.graph.names.ids()) {
        if (in.graph.names[n].forward == ClassId::none)
            continue;
        groups.clear();
        for (ClassId c : in.graph.names[n].definitions)
            groups.insert(groups.end(), in.groups.of_class[c].begin(), in.groups.of_class[c].end());
        std::ranges::sort(groups);
        for (GroupId group : groups)
            out[n].definitions.push_back(finals.of_group(group));
    }
    return out;
}

/// The definition for which a declaration of the name stands; none if there is no definition, or if
/// several are possible. `in_base`: the base declares the name. The base's declaration must stay,
/// so resolve_forwards(), which would replace it, cannot decide; DeclaredName::by_struct decides.
ClassId resolve_name(const DeclaredName &name, bool in_base)
{
    if (name.definitions.size() == 1)
        return name.definitions.front();
    return in_base ? name.by_struct : ClassId::none;
}

/// Step 3: resolves forward declarations. Returns those with several possible definitions, except
/// for names that the base declares. A declaration of many objects is returned once.
std::vector<UnresolvedForward> resolve_nodes(const SplitInput &in, const Classes &classes,
                                             FinalClasses &finals)
{
    trace::Phase phase("resolve_nodes");
    DeclaredNames names = find_definitions(in, finals);
    resolve_by_structs(in, finals, names);
    std::vector<UnresolvedForward> unresolved;
    for (NodeId n : in.conflicts.nodes.ids()) {
        const Node &node = in.conflicts.nodes[n];
        if (!node.is_forward())
            continue;
        const auto &[definitions, by_struct] = names[node.name];
        const bool in_base = base_declares(in.sources, classes, in.graph, node.name);
        if (!in.sources.is_base(node.source)) // a base cannot change
            finals.of_node[n] = resolve_name(names[node.name], in_base);
        if (finals.of_node[n] != ClassId::none)
            continue;
        const StructName &name = in.graph.names[node.name];
        finals.of_node[n] = name.forward;
        FinalClass &declaration = finals.partition.classes[name.forward];
        if (definitions.size() > 1 && !in_base && !declaration.live)
            unresolved.push_back({name.forward, by_struct, name.is_enum, definitions});
        declaration.live = true;
    }
    return unresolved;
}

/// Step 6. If no struct resolved a name, the definition that a typedef shows is preferred.
void resolve_rest(std::vector<UnresolvedForward> unresolved, const ClassGraph &graph,
                  FinalClasses &finals)
{
    const auto shown = resolve_typedefs(unresolved, graph, finals.keys, finals.partition);
    for (UnresolvedForward &f : unresolved)
        if (auto of = shown.find(f.forward); of != shown.end() && f.preferred == ClassId::none)
            f.preferred = of->second;
    std::erase_if(unresolved, [](const UnresolvedForward &f) {
        return f.preferred == ClassId::none && !f.is_enum;
    });
    resolve_forwards(unresolved, finals.keys, finals.partition);
}

Partition split(const SplitInput &in, Classes classes)
{
    FinalClasses finals{begin_partition(classes, in.graph, in.conflicts)};
    assign_structs(in, finals);
    std::vector<UnresolvedForward> unresolved = resolve_nodes(in, classes, finals);
    assign_between(in, classes, finals);
    finals.partition.of = std::move(classes.of);
    resolve_references(in, finals);
    resolve_rest(std::move(unresolved), in.graph, finals);
    return std::move(finals.partition);
}

} // namespace

Partition split_conflicts(const Sources &sources, Classes classes, const ClassGraph &graph,
                          const ConflictGraph &conflicts, const std::vector<Groups> &alternatives)
{
    if (!conflicts.count) {
        Partition out = begin_partition(classes, graph, conflicts);
        out.of = std::move(classes.of);
        return out;
    }
    Partition best;
    size_t fewest = SIZE_MAX;
    for (const Groups &groups : alternatives) {
        const bool last = &groups == &alternatives.back();
        // NOLINTNEXTLINE(bugprone-use-after-move): only the last takes them
        Classes own = last ? std::move(classes) : Classes(classes);
        Partition partition = split({sources, graph, conflicts, groups}, std::move(own));
        if (const size_t types = partition.live_count(); types < fewest) {
            best = std::move(partition);
            fewest = types;
        }
    }
    return best;
}

} // namespace btflink::merge
