// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the final classes of types between nodes: pointers, prototypes, typedefs and the like.
// merge/dedup/README.md defines the terms.
//
// Method. Source by source, a walk finishes the types that a type refers to before the type itself.
// The key of a type has its class, and the final classes of those references that are not final
// from the start. Types with the same key become one final class.
//
// Cost. Linear in types between nodes and their references. The key of a type is made once, or
// twice if the type waits for a reference.
#include "merge/dedup/split/split_conflicts.h"

#include "common/io/trace.h"

namespace btflink::merge
{

namespace
{

/// A word that occurs only in keys of one source, so that these keys differ from all keys of other
/// sources.
ClassId word_of_source(uint32_t source)
{
    return ClassId{raw(ClassId::none) - 1 - source};
}

/// The types of one source: the base or an object.
struct ObjectTypes {
    const SplitInput &in;
    const Classes &classes;
    uint32_t source;

    size_t index(TypeId id) const { return in.sources.index(source, id); }
    ClassId class_of(TypeId id) const { return in.graph.alias[classes.of[index(id)]]; }
    Role role(TypeId id) const
    {
        // ClassId::none: a type of the base that was not chosen.
        if (id == void_id || classes.of[index(id)] == ClassId::none)
            return role_final;
        return in.conflicts.role[class_of(id)];
    }
    std::span<const TypeId> between() const
    {
        return {in.conflicts.between.data() + in.conflicts.between_begin[source],
                in.conflicts.between.data() + in.conflicts.between_begin[source + 1]};
    }
};

/// Scratch space, large enough for any source. Before and after each source no type is open or has
/// a final class.
struct Walk {
    explicit Walk(size_t types) : final_class(types, ClassId::none), open(types) {}

    IdVector<TypeId, ClassId> final_class;
    IdVector<TypeId, uint8_t> open; // has begun; waits for the final classes of its references
    std::vector<TypeId> stack;
    std::vector<uint32_t> key;

    void reset(TypeId id)
    {
        final_class[id] = ClassId::none;
        open[id] = false;
    }
};

/// Makes the key of a type. Returns false if other types between nodes, to which the type refers,
/// must be finished first; these are put onto the stack.
bool make_key(const ObjectTypes &types, TypeId id, Walk &walk)
{
    const size_t depth = walk.stack.size();
    walk.key.assign(1, raw(types.class_of(id)));
    btf::for_each_type_id(types.in.sources.type({types.source, id}), [&](uint32_t ref) {
        const TypeId target{ref};
        const Role role = types.role(target);
        if (role == role_final)
            return;
        ClassId to = walk.final_class[target];
        if (to == ClassId::none) {
            if (role == role_between && !walk.open[target])
                walk.stack.push_back(target);
            // The key is made again later, except on a cycle, possible only with wrong hashes.
            to = word_of_source(types.source);
        }
        walk.key.push_back(raw(to));
    });
    return walk.stack.size() == depth;
}

/// Assigns final classes to `root` and to all types between nodes that it reaches without passing a
/// node.
void assign_tree(const ObjectTypes &types, TypeId root, Walk &walk, FinalClasses &finals)
{
    walk.stack.assign(1, root);
    while (!walk.stack.empty()) {
        const TypeId id = walk.stack.back();
        if (walk.final_class[id] == ClassId::none) {
            walk.open[id] = true;
            if (!make_key(types, id, walk))
                continue;
            auto [number, added] = finals.keys.keys.add(walk.key);
            const TypeAt here{types.source, id};
            if (added)
                finals.keys.final_class.push_back(finals.add(types.class_of(id), here, here));
            walk.final_class[id] = finals.keys.final_class[number];
        }
        walk.stack.pop_back();
    }
}

} // namespace

void assign_between(const SplitInput &in, Classes &classes, FinalClasses &finals)
{
    trace::Phase phase("assign_between");
    uint32_t most = 0;
    for (const Source &source : in.sources.list)
        most = std::max(most, source.count);
    Walk walk(size_t{most} + 1);
    for (uint32_t s = 0; s < in.sources.list.size(); ++s) {
        const ObjectTypes types{in, classes, s};
        for (NodeId n : in.conflicts.nodes_of(s))
            walk.final_class[in.conflicts.nodes[n].type] = finals.of_node[n];
        for (TypeId id : types.between())
            assign_tree(types, id, walk, finals);
        auto store_class = [&](TypeId id) {
            classes.of[types.index(id)] = walk.final_class[id];
            walk.reset(id);
        };
        for (NodeId n : in.conflicts.nodes_of(s))
            store_class(in.conflicts.nodes[n].type);
        for (TypeId id : types.between())
            store_class(id);
    }
}

} // namespace btflink::merge
