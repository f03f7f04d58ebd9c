// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the conflicts, and the names and classes that reach one.
//
// Method. A reference to a named struct counts as a reference to its name. All names that are
// conflicts are affected, and so are the classes that refer to an affected name or class, the names
// that an affected class defines, and so on.
//
// Cost. Without a conflict, one look at each name and each chosen type of a base. Otherwise also
// each reference of each class twice, to list the users of names and classes, and each reference to
// an affected name or class once more.
#include "merge/dedup/conflicts/conflict_graph.h"

#include "common/io/trace.h"

namespace btflink::merge
{

namespace
{

/// By name: does a base have two definitions with the same stub hash?
IdVector<NameId, bool> names_with_twins(const Sources &sources, const Classes &classes,
                                        const ClassGraph &graph)
{
    IdVector<NameId, bool> out(graph.names.size(), false);
    if (!sources.has_base)
        return out;
    IdVector<ClassId, bool> seen(classes.first.size(), false);
    sources.list[0].for_types([&](TypeId, size_t index) {
        const ClassId c = classes.of[index];
        if (c == ClassId::none || graph.name[c] == NameId::none || graph.is_forward(c))
            return;
        if (seen[c])
            out[graph.name[c]] = true;
        seen[c] = true;
    });
    return out;
}

/// Names with several definitions, names with twins in the base, and defined names that the base
/// declares.
std::vector<NameId> find_conflicts(const Sources &sources, const Classes &classes,
                                   const ClassGraph &graph)
{
    std::vector<NameId> out;
    const IdVector<NameId, bool> twins = names_with_twins(sources, classes, graph);
    for (NameId n : graph.names.ids()) {
        const size_t definitions = graph.names[n].definitions.size();
        if (definitions > 1 || twins[n] ||
            (definitions && base_declares(sources, classes, graph, n)))
            out.push_back(n);
    }
    return out;
}

/// The target of references to a class: its name, or the class itself, numbered after all names.
uint32_t target_number(const ClassGraph &graph, ClassId c)
{
    const NameId name = graph.name[c];
    return name != NameId::none ? raw(name) : static_cast<uint32_t>(graph.names.size()) + raw(c);
}

/// For each target number, the classes that refer to it.
Lists<uint32_t, ClassId> users_by_target(const ClassGraph &graph)
{
    return Lists<uint32_t, ClassId>::make(graph.names.size() + graph.size(), [&](auto put) {
        for (ClassId c : graph.classes())
            for (ClassId ref : graph.refs[c])
                if (ref != ClassId::none)
                    put(target_number(graph, graph.alias[ref]), graph.alias[c]);
    });
}

} // namespace

bool base_declares(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   NameId name)
{
    ClassId c = graph.names[name].forward;
    return c != ClassId::none && sources.is_base(classes.first[c].source);
}

void find_affected(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   ConflictGraph &out)
{
    trace::Phase phase("find_affected");
    out.affected_names.assign(graph.names.size(), false);
    out.affected_classes.assign(graph.size(), false);
    const std::vector<NameId> conflicts = find_conflicts(sources, classes, graph);
    out.count = conflicts.size();
    if (conflicts.empty())
        return;
    const Lists<uint32_t, ClassId> users = users_by_target(graph);
    std::vector<ClassId> open; // affected; their users come next
    auto affect_users_of = [&](uint32_t target) {
        for (ClassId user : users[target]) {
            if (out.affected_classes[user])
                continue;
            out.affected_classes[user] = true;
            open.push_back(user);
        }
    };
    for (NameId n : conflicts) {
        out.affected_names[n] = true;
        affect_users_of(raw(n));
    }
    while (!open.empty()) {
        const ClassId c = open.back();
        open.pop_back();
        if (const NameId name = graph.name[c]; name != NameId::none) {
            if (out.affected_names[name])
                continue;
            out.affected_names[name] = true;
        }
        affect_users_of(target_number(graph, c));
    }
}

} // namespace btflink::merge
