// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Method. Object by object, a walk finishes what a type refers to before the type itself. Its key
// is its class, and the final classes of what it refers to; types of one key are one final class.
// In most objects a name is one node, so classes are walked, and no type is read. In an ambiguous
// object, which has several nodes of a name, types are walked.
//
// Cost. Types between nodes and their references, twice each.
#include "merge/dedup/split/types_between.h"

#include "common/graph/post_order.h"
#include "common/io/trace.h"

#include <optional>

namespace btflink::merge
{

namespace
{

constexpr size_t many_refs = 32; // more than nearly all prototypes have

/// Stands in keys for a class that is equal to none of another source.
ClassId of_this_source_only(uint32_t source)
{
    return ClassId{raw(ClassId::none) - 1 - source};
}

/// What a type between nodes refers to, unless that is final from the start.
template <typename Vertex>
struct Reference {
    std::optional<Vertex> between; // none: it is known what it is
    ClassId known = ClassId::none; // the final class; none: it cannot be told
};

/// Room for walks, one per object; as good as new before each.
template <typename Vertex>
struct Room {
    explicit Room(size_t vertices) : final_class(vertices, ClassId::none), state(vertices) {}

    IdVector<Vertex, ClassId> final_class;
    IdVector<Vertex, uint8_t> state;
    std::vector<Vertex> stack;
    std::vector<uint32_t> key;

    void reset(Vertex v)
    {
        final_class[v] = ClassId::none;
        state[v] = walk::fresh;
    }
};

/// An object in which a name is one node: vertices are classes, whose references are the same in
/// all objects.
struct ByClass {
    using Vertex = ClassId;
    const SplitInput &in;
    const FinalClasses &made;
    uint32_t source;
    const IdVector<ClassId, TypeId> &types;  // one of each class between nodes; void: there is none
    const IdVector<NameId, NodeId> &of_name; // none: there is none

    ClassId class_of(ClassId c) const { return c; }
    TypeId type_of(ClassId c) const { return types[c]; }

    /// Only classes with many references are checked against the type of the object, so that a few
    /// bytes with false hashes do not cost as much as a type of any size.
    bool is_as_large(ClassId c) const
    {
        if (in.graph.refs[c].size() <= many_refs)
            return true;
        size_t own = 0;
        btf::for_each_type_id(in.sources.type({source, types[c]}), [&](uint32_t) { ++own; });
        return own == in.graph.refs[c].size();
    }

    template <typename Visit>
    void for_refs(ClassId c, Visit visit) const
    {
        if (!is_as_large(c))
            return visit(Reference<ClassId>{});
        for (ClassId to : in.graph.refs[c]) {
            if (to == ClassId::none || in.conflicts.role[to = in.graph.alias[to]] == role_final)
                continue;
            if (NameId name = in.conflicts.slot_name[to]; name != NameId::none) {
                const NodeId n = of_name[name];
                visit(Reference<ClassId>{{}, n == NodeId::none ? ClassId::none : made.of_node[n]});
            } else if (types[to] == void_id) { // no such type: the object's hashes are false
                visit(Reference<ClassId>{});
            } else {
                visit(Reference<ClassId>{to});
            }
        }
    }
};

/// An ambiguous object: vertices are its types.
struct ByType {
    using Vertex = TypeId;
    const SplitInput &in;
    const Classes &classes;
    uint32_t source;
    const Room<TypeId> &room; // knows the final classes of nodes

    ClassId class_of(TypeId id) const
    {
        return in.graph.alias[classes.of[in.sources.index(source, id)]];
    }
    TypeId type_of(TypeId id) const { return id; }
    Role role(TypeId id) const
    {
        if (id == void_id || classes.of[in.sources.index(source, id)] == ClassId::none)
            return role_final;
        return in.conflicts.role[class_of(id)];
    }

    template <typename Visit>
    void for_refs(TypeId id, Visit visit) const
    {
        btf::for_each_type_id(in.sources.type({source, id}), [&](uint32_t ref) {
            const TypeId to{ref};
            if (role(to) == role_between)
                visit(Reference<TypeId>{to});
            else if (role(to) != role_final)
                visit(Reference<TypeId>{{}, room.final_class[to]});
        });
    }
};

/// Final classes of `root` and of all between nodes that it refers to.
template <typename Types>
void settle(const Types &types, typename Types::Vertex root, Room<typename Types::Vertex> &room,
            FinalClasses &made)
{
    using Vertex = typename Types::Vertex;
    auto expand = [&](Vertex at, auto need) {
        types.for_refs(at, [&](const Reference<Vertex> &ref) {
            if (ref.between)
                need(*ref.between);
        });
    };
    auto close = [&](Vertex at) {
        room.key.assign(1, raw(types.class_of(at)));
        types.for_refs(at, [&](const Reference<Vertex> &ref) {
            ClassId to = ref.between ? room.final_class[*ref.between] : ref.known;
            if (to == ClassId::none) // also: a cycle without a struct
                to = of_this_source_only(types.source);
            room.key.push_back(raw(to));
        });
        auto [number, added] = made.keys.keys.add(room.key);
        if (added) {
            const TypeAt here{types.source, types.type_of(at)};
            made.keys.final_class.push_back(made.add(types.class_of(at), here, here));
        }
        room.final_class[at] = made.keys.final_class[number];
    };
    post_order(
        root, [&](Vertex at) -> uint8_t & { return room.state[at]; }, room.stack, expand, close);
}

/// Of one object.
std::span<const TypeId> types_between(const ConflictGraph &conflicts, uint32_t source)
{
    return {conflicts.refs.data() + conflicts.ref_begin[source],
            conflicts.refs.data() + conflicts.ref_begin[source + 1]};
}

/// `types`: all void, before and after.
void assign_by_class(const SplitInput &in, const Classes &classes, uint32_t source,
                     const IdVector<NameId, NodeId> &of_name, IdVector<ClassId, TypeId> &types,
                     Room<ClassId> &room, FinalClasses &made, SplitTypes &out)
{
    const std::span between = types_between(in.conflicts, source);
    auto class_of = [&](TypeId id) {
        return in.graph.alias[classes.of[in.sources.index(source, id)]];
    };
    for (size_t i = between.size(); i--;)
        types[class_of(between[i])] = between[i];
    const ByClass object{in, made, source, types, of_name};
    for (TypeId id : between)
        settle(object, class_of(id), room, made);
    for (TypeId id : between)
        out.emplace_back(in.sources.index(source, id), room.final_class[class_of(id)]);
    for (TypeId id : between) {
        room.reset(class_of(id));
        types[class_of(id)] = void_id;
    }
}

void assign_by_type(const SplitInput &in, const Classes &classes, uint32_t source,
                    Room<TypeId> &room, FinalClasses &made, SplitTypes &out)
{
    const std::span between = types_between(in.conflicts, source);
    for (NodeId n : in.conflicts.nodes_of(source))
        room.final_class[in.conflicts.nodes[n].type] = made.of_node[n];
    const ByType object{in, classes, source, room};
    for (TypeId id : between)
        settle(object, id, room, made);
    for (NodeId n : in.conflicts.nodes_of(source))
        room.reset(in.conflicts.nodes[n].type);
    for (TypeId id : between) {
        out.emplace_back(in.sources.index(source, id), room.final_class[id]);
        room.reset(id);
    }
}

size_t most_types(const Sources &sources)
{
    size_t most = 0;
    for (const Source &source : sources.list)
        most = std::max<size_t>(most, source.count);
    return most;
}

} // namespace

SplitTypes assign_between(const SplitInput &in, const Classes &classes, FinalClasses &made)
{
    trace::Phase phase("assign_refs");
    SplitTypes out;
    Room<ClassId> by_class(in.graph.size());
    std::optional<Room<TypeId>> by_type; // as large as a base, and seldom needed
    IdVector<ClassId, TypeId> types(in.graph.size(), void_id);
    IdVector<NameId, NodeId> of_name(in.conflicts.slot_names, NodeId::none);
    for (uint32_t s = 0; s < in.sources.list.size(); ++s) {
        bool ambiguous = false; // two nodes of one name
        for (NodeId n : in.conflicts.nodes_of(s))
            ambiguous |= std::exchange(of_name[in.conflicts.nodes[n].name], n) != NodeId::none;
        if (ambiguous && !by_type)
            by_type.emplace(most_types(in.sources) + 1);
        if (ambiguous)
            assign_by_type(in, classes, s, *by_type, made, out);
        else
            assign_by_class(in, classes, s, of_name, types, by_class, made, out);
        for (NodeId n : in.conflicts.nodes_of(s)) {
            of_name[in.conflicts.nodes[n].name] = NodeId::none;
            if (made.of_node[n] != ClassId::none)
                out.emplace_back(in.sources.index(s, in.conflicts.nodes[n].type), made.of_node[n]);
        }
    }
    return out;
}

} // namespace btflink::merge
