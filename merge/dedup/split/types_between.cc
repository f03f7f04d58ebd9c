// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Method. Object by object, a walk finishes the types that a type refers to before the type itself.
// The key of a type is its class, and the final classes of those references that are not final from
// the start. Types with the same key are one final class.
//
// `classes` is read until the last object is done, so the result is a list of changes. No type is
// in it twice, because a node is no type between nodes, so their order does not matter.
//
// Cost. Types between nodes once, and their references twice.
#include "merge/dedup/split/final_classes.h"

#include "common/graph/post_order.h"
#include "common/io/trace.h"

namespace btflink::merge
{

namespace
{

/// A word that ends keys of one source only, so that they differ from all keys of other sources.
ClassId of_this_source_only(uint32_t source)
{
    return ClassId{raw(ClassId::none) - 1 - source};
}

/// The types of one object.
struct ObjectTypes {
    const SplitInput &in;
    const Classes &classes;
    uint32_t source;

    size_t index(TypeId id) const { return in.sources.index(source, id); }
    ClassId class_of(TypeId id) const { return in.graph.alias[classes.of[index(id)]]; }
    Role role(TypeId id) const
    {
        if (id == void_id || classes.of[index(id)] == ClassId::none)
            return role_final;
        return in.conflicts.role[class_of(id)];
    }
    std::span<const TypeId> between() const
    {
        return {in.conflicts.refs.data() + in.conflicts.ref_begin[source],
                in.conflicts.refs.data() + in.conflicts.ref_begin[source + 1]};
    }
};

/// Space for the types of the largest source; all are fresh and have no final class, before and
/// after each object.
struct Walk {
    explicit Walk(size_t types)
        : final_class(types, ClassId::none), type(types), state(types, walk::fresh)
    {
    }

    IdVector<TypeId, ClassId> final_class;
    IdVector<TypeId, const btf_type *> type; // of those that are open or done
    IdVector<TypeId, uint8_t> state;
    std::vector<TypeId> stack;
    std::vector<uint32_t> key;

    void reset(TypeId id)
    {
        final_class[id] = ClassId::none;
        state[id] = walk::fresh;
    }
};

/// The final class of a type between nodes, after those of its references.
ClassId find_or_add(const ObjectTypes &types, TypeId id, Walk &walk, FinalClasses &made)
{
    const TypeAt here{types.source, id};
    walk.key.assign(1, raw(types.class_of(id)));
    btf::for_each_type_id(*walk.type[id], [&](uint32_t ref) {
        if (types.role(TypeId{ref}) == role_final)
            return;
        ClassId to = walk.final_class[TypeId{ref}];
        if (to == ClassId::none) // also a cycle without a struct
            to = of_this_source_only(types.source);
        walk.key.push_back(raw(to));
    });
    auto [number, added] = made.keys.keys.add(walk.key);
    if (added)
        made.keys.final_class.push_back(made.add(types.class_of(id), here, here));
    return made.keys.final_class[number];
}

/// Assigns final classes to `root` and to all types between nodes that it refers to.
void assign_tree(const ObjectTypes &types, TypeId root, Walk &walk, FinalClasses &made)
{
    auto state = [&](TypeId id) -> uint8_t & { return walk.state[id]; };
    auto expand = [&](TypeId id, auto need) {
        walk.type[id] = &types.in.sources.type({types.source, id});
        btf::for_each_type_id(*walk.type[id], [&](uint32_t ref) {
            if (types.role(TypeId{ref}) == role_between)
                need(TypeId{ref});
        });
    };
    auto close = [&](TypeId id) { walk.final_class[id] = find_or_add(types, id, walk, made); };
    post_order(root, state, walk.stack, expand, close);
}

} // namespace

SplitTypes assign_between(const SplitInput &in, const Classes &classes, FinalClasses &made)
{
    trace::Phase phase("assign_between");
    SplitTypes out;
    uint32_t most = 0;
    for (const Source &source : in.sources.list)
        most = std::max(most, source.count);
    Walk walk(size_t{most} + 1);
    for (uint32_t s = 0; s < in.sources.list.size(); ++s) {
        const ObjectTypes types{in, classes, s};
        for (NodeId n : in.conflicts.nodes_of(s))
            walk.final_class[in.conflicts.nodes[n].type] = made.of_node[n];
        for (TypeId id : types.between()) {
            assign_tree(types, id, walk, made);
            out.emplace_back(types.index(id), walk.final_class[id]);
        }
        for (NodeId n : in.conflicts.nodes_of(s)) {
            const TypeId id = in.conflicts.nodes[n].type;
            out.emplace_back(types.index(id), made.of_node[n]);
            walk.reset(id);
        }
        for (TypeId id : types.between())
            walk.reset(id);
    }
    return out;
}

} // namespace btflink::merge
