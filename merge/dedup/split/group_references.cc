// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the references of groups whose forward declarations were resolved.
//
// Problem. The representative of a group may refer to a declaration where other members refer to a
// definition. The representative's object then has no type for the reference that the group needs:
//
//     representative's object:  struct drv;            struct bus { struct drv *drv; };
//     member's object:          struct drv { int x; }; struct bus { struct drv *drv; };
//
// Method. The types of the representative's object are walked from the representative to the next
// nodes. If one of these is a forward declaration that the group resolved, the resolution takes its
// place. A type between nodes whose references change is replaced by the final class with the new
// references, which is added if it is new.
//
// Cost. The types between nodes, once per group with a resolved declaration.
#include "merge/dedup/split/split_conflicts.h"

#include "common/io/trace.h"

#include <unordered_map>

namespace btflink::merge
{

namespace
{

// Limits the recursion: types at a greater depth keep their classes, without the resolutions of the
// group. Kernels have no chains of types between nodes that are this long.
constexpr uint32_t max_depth = 1000;

/// The object of a group's representative, with the group's resolutions.
struct GroupView {
    const SplitInput &in;
    FinalClasses &finals;
    GroupId group;
    uint32_t source;
    std::unordered_map<TypeId, ClassId> seen = {}; // the class of each type between nodes

    ClassId own_class(TypeId type) const
    {
        return finals.partition.of[in.sources.index(source, type)];
    }
    ClassId origin(TypeId type) const { return in.graph.alias[finals.origin_of(own_class(type))]; }
    NodeId node_at(TypeId type) const { return in.conflicts.node_at(source, type); }
    bool is_between(TypeId type) const { return in.conflicts.role[origin(type)] == role_between; }
};

/// The references of a type, as the group sees them.
struct ReferencesSeen {
    std::vector<ClassId> classes; // none: void
    std::vector<uint32_t> key;    // of the type, see BetweenKeys
};

ClassId class_seen(GroupView &view, TypeId type, uint32_t depth);

ReferencesSeen references_seen(GroupView &view, TypeId type, uint32_t depth)
{
    ReferencesSeen out{{}, {raw(view.origin(type))}};
    btf::for_each_type_id(view.in.sources.type({view.source, type}), [&](uint32_t ref) {
        const TypeId target{ref};
        out.classes.push_back(ref ? class_seen(view, target, depth) : ClassId::none);
        if (ref && (view.node_at(target) != NodeId::none || view.is_between(target)))
            out.key.push_back(raw(out.classes.back()));
    });
    return out;
}

ClassId class_of_node(const GroupView &view, NodeId n, TypeId type)
{
    if (view.in.conflicts.nodes[n].is_forward())
        if (GroupId meant = view.in.groups.resolved(view.group, n); meant != GroupId::none)
            return view.finals.of_group(meant);
    return view.own_class(type);
}

/// The final class of a type between nodes with these references, which is added if it is new.
ClassId find_or_add(GroupView &view, TypeId type, ReferencesSeen refs)
{
    FinalClasses &finals = view.finals;
    auto [number, added] = finals.keys.keys.add(refs.key);
    if (added) {
        const TypeAt here{view.source, type};
        const ClassId c = finals.add(view.origin(type), here, here);
        finals.keys.final_class.push_back(c);
        finals.partition.classes[c].refs = static_cast<uint32_t>(finals.partition.refs.size());
        finals.partition.refs.push_back(std::move(refs.classes));
    }
    return finals.keys.final_class[number];
}

ClassId class_seen(GroupView &view, TypeId type, uint32_t depth)
{
    if (NodeId n = view.node_at(type); n != NodeId::none)
        return class_of_node(view, n, type);
    if (!view.is_between(type) || depth > max_depth)
        return view.own_class(type);
    // The class is computed once for all paths to the type. A cycle, possible only with wrong
    // hashes, ends in the type's own class.
    auto [memo, is_new] = view.seen.emplace(type, view.own_class(type));
    if (!is_new)
        return memo->second;
    return view.seen[type] = find_or_add(view, type, references_seen(view, type, depth + 1));
}

} // namespace

void resolve_references(const SplitInput &in, FinalClasses &finals)
{
    trace::Phase phase("resolve_references");
    for (NodeId n : in.conflicts.nodes.ids()) {
        if (in.conflicts.nodes[n].is_forward())
            continue;
        const GroupId group = in.groups.of[n];
        if (representative(group) != n || !in.groups.any_resolved[group])
            continue;
        const auto at = static_cast<uint32_t>(finals.partition.refs.size());
        finals.partition.classes[finals.of_node[n]].refs = at;
        finals.partition.refs.emplace_back(); // references_seen() may add refs of new types
        GroupView view{in, finals, group, in.conflicts.nodes[n].source};
        ReferencesSeen refs = references_seen(view, in.conflicts.nodes[n].type, 0);
        finals.partition.refs[at] = std::move(refs.classes);
    }
}

} // namespace btflink::merge
