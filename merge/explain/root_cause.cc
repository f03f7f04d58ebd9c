// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the names whose definitions themselves differ, and what else was split because of each.
//
// Problem. Half of the objects see a `volatile` in a header, the other half do not, and the result
// has thirty thousand structs twice. Only one of them differs itself, in the member with the
// `volatile`; all others only refer to it. This one is the root cause.
//
// Method, on the final classes (merge/dedup/dedup.h):
//  1. The shape of a class describes its own contents: kind, sizes, names, offsets, and its
//     references. References to named structs, unions, enums and typedefs count by kind and name.
//     All other types count by their own shapes. They are called unnamed here (pointers,
//     prototypes, unnamed structs), although INTs and FLOATs have names. A name whose classes have
//     several shapes is a root.
//  2. A shape with several classes was split. At each position, its classes refer to types of the
//     same name. (From here on, each shape of unnamed types counts as a name.) If the types at a
//     position differ, their name split the shape, and the shape has an edge to the name:
//
//         struct bus { struct dev *dev; } twice, because there are two struct dev:
//         shape of struct bus -> shape `struct dev *` -> name struct dev, the root
//
//  3. A breadth-first search against these edges, from all roots at once, finds for each split
//     shape the nearest root and the path to it.
// Each class beyond the first of its shape is counted once, for the nearest root, even if other
// roots would have split it, too.
//
// Why a root should always be found. If the definitions of a name have one shape, they differ at
// some position, and the types there differ in turn. This must lead to two shapes: classes that
// agree in everything reachable have been merged by the deduplication. (why_dup.cc counts the types
// for which none is found.)
//
// Declarations. If the base declares a name, and the module defines it once, the declaration counts
// as a second shape: types that reach the name, such as typedefs and pointers, exist twice, and
// nothing else explains this. With several definitions the declaration does not count: their root
// cause also explains why it stays unresolved.
//
// Cost. A few passes over the final types and their references. (why_dup.cc makes one more, over
// the classes of all input types, to find the objects of each version.) Only with --why-dup.
#include "merge/explain/explain.h"

#include "common/graph/graphs.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

/// The name space: 's', 'u', 'e' or 't'; 0 without a name, or for a kind without name space.
char space_of(const Btf &btf, TypeId id)
{
    if (btf.name(id).empty())
        return 0;
    const btf_type &t = btf.type(id);
    if (btf::is_composite(btf::kind_of(t)) || btf::kind_of(t) == btf::Kind::FWD)
        return btf::is_union(t) ? 'u' : 's';
    if (btf::is_enum(btf::kind_of(t)))
        return 'e';
    return btf::kind_of(t) == btf::Kind::TYPEDEF ? 't' : 0;
}

} // namespace

SplitGraph::SplitGraph(const MergedTypes &types)
    : sources_(types.sources), partition_(types.partition)
{
    find_names();
    find_shapes();
    name_unnamed();
    find_roots();
    find_blame();
}

ClassId SplitGraph::class_at(uint32_t source, uint32_t ref) const
{
    if (!ref || !sources_.is_plain(source, TypeId{ref}))
        return ClassId::none;
    const size_t index = sources_.index(source, TypeId{ref});
    return partition_.of[index] == ClassId::none ? ClassId::none : partition_.class_of(index);
}

/// Finds the classes that a class refers to, in the order of its words; none: void, or a type of
/// the base that does not take part.
void SplitGraph::refs_of(ClassId c, std::vector<ClassId> &out) const
{
    out.clear();
    const FinalClass &f = partition_.classes[c];
    if (f.refs != no_refs) {
        for (ClassId ref : partition_.refs[f.refs])
            out.push_back(ref == ClassId::none ? ref : partition_.alias[ref]);
        return;
    }
    btf::for_each_type_id(sources_.type(f.canonical),
                          [&](uint32_t ref) { out.push_back(class_at(f.canonical.source, ref)); });
}

void SplitGraph::find_names()
{
    std::map<std::pair<char, std::string_view>, TypeName> numbers;
    name_.assign(partition_.classes.size(), TypeName::none);
    for (ClassId c : partition_.classes.ids()) {
        const TypeAt at = canonical(c);
        const char space = space_of(btf_of(c), at.type);
        if (!space || partition_.alias[c] != c)
            continue;
        auto [found, added] = numbers.try_emplace({space, sources_.name(at)}, names.next_id());
        if (added)
            names.push_back({space, {}, ClassId::none, {}});
        name_[c] = found->second;
        if (!partition_.is_live(c))
            continue;
        if (btf::is_declaration(btf_of(c).type(at.type)))
            names[found->second].forward = c;
        else
            names[found->second].classes.push_back(c);
    }
}

/// What a reference to the class contributes to a shape.
uint64_t SplitGraph::stub(ClassId c) const
{
    if (c == ClassId::none)
        return 0;
    // Inverted, because 0 is void.
    return name_[c] != TypeName::none ? ~uint64_t{raw(name_[c])} : hash_[c];
}

/// A hash that identifies the shape of a class. The hashes of unnamed classes that it refers to are
/// already known, except on a cycle.
uint64_t SplitGraph::shape_hash(ClassId c, const std::vector<ClassId> &refs,
                                std::string &buffer) const
{
    TypeAt at = canonical(c);
    const btf_type &t = sources_.type(at);
    buffer.clear();
    auto word = [&](uint32_t w) { buffer.append(reinterpret_cast<const char *>(&w), 4); };
    auto text = [&](uint32_t offset) { buffer.append(sources_.str(at, offset)).push_back(0); };
    word(t.info);
    btf::for_each_word(t, [&](btf::Word role, uint32_t value) {
        if (role == btf::Word::name)
            text(value);
        else if (role != btf::Word::ref && role != btf::Word::unused)
            word(value);
    });
    for (ClassId ref : refs) {
        uint64_t s = stub(ref);
        buffer.append(reinterpret_cast<const char *>(&s), sizeof s);
    }
    return XXH3_64bits(buffer.data(), buffer.size());
}

/// Step 1.
void SplitGraph::find_shapes()
{
    const size_t count = partition_.classes.size();
    hash_.assign(count, 0);
    shape_.assign(count, Shape::none);
    IdVector<ClassId, uint8_t> state(count, walk::fresh);
    std::vector<ClassId> stack, refs;
    std::string buffer;
    std::unordered_map<uint64_t, Shape> numbers;
    auto expand = [&](ClassId c, auto need) {
        refs_of(c, refs);
        for (ClassId ref : refs)
            if (ref != ClassId::none && name_[ref] == TypeName::none)
                need(ref);
    };
    auto close = [&](ClassId c) {
        refs_of(c, refs);
        hash_[c] = shape_hash(c, refs, buffer);
        if (!partition_.is_live(c))
            return;
        auto [found, added] = numbers.try_emplace(hash_[c], shapes.next_id());
        if (added)
            shapes.emplace_back();
        shape_[c] = found->second;
    };
    for (ClassId start : partition_.classes.ids())
        if (partition_.is_live(start))
            post_order(
                start, [&](ClassId c) -> uint8_t & { return state[c]; }, stack, expand, close);
    for (ClassId c : partition_.classes.ids()) // in order, independent of the walk
        if (shape_[c] != Shape::none)
            shapes[shape_[c]].classes.push_back(c);
}

/// Step 2: each shape of unnamed types counts as a name from here on.
void SplitGraph::name_unnamed()
{
    for (const ShapeUse &shape : shapes) {
        if (name_[shape.classes[0]] != TypeName::none)
            continue;
        for (ClassId c : shape.classes)
            name_[c] = names.next_id();
        names.push_back({0, shape.classes, ClassId::none, {}});
    }
}

/// Step 1.
void SplitGraph::find_roots()
{
    for (NameUse &name : names) {
        for (ClassId c : name.classes)
            if (shapes[shape_[c]].classes.front() == c) // all classes of a shape have this name
                name.versions.push_back(shape_[c]);
        if (name.classes.size() == 1 && name.forward != ClassId::none)
            name.versions.push_back(shape_[name.forward]);
    }
}

/// Steps 2 and 3.
void SplitGraph::find_blame()
{
    // For each name, the edges to it: the shapes that it split, and the position of the reference.
    IdVector<TypeName, std::vector<std::pair<Shape, uint32_t>>> users(names.size());
    std::vector<ClassId> first, refs;
    for (Shape s : shapes.ids()) {
        refs_of(shapes[s].classes[0], first);
        std::vector<bool> differs(first.size());
        for (ClassId c : std::span(shapes[s].classes).subspan(1)) {
            refs_of(c, refs);
            for (size_t i = 0; i < std::min(refs.size(), first.size()); ++i)
                differs[i] = differs[i] || refs[i] != first[i];
        }
        for (uint32_t i = 0; i < first.size(); ++i)
            if (differs[i] && first[i] != ClassId::none && name_[first[i]] != TypeName::none)
                users[name_[first[i]]].emplace_back(s, i);
    }
    std::vector<TypeName> queue;
    for (TypeName n : names.ids())
        if (names[n].is_root()) {
            names[n].root = n;
            queue.push_back(n);
        }
    for (size_t next = 0; next < queue.size(); ++next) {
        const TypeName by = queue[next];
        NameUse &root = names[names[by].root];
        for (auto [s, position] : users[by]) {
            ShapeUse &shape = shapes[s];
            if (shape.split_by != TypeName::none)
                continue;
            shape.split_by = by;
            shape.position = position;
            const TypeName n = name_[shape.classes[0]];
            const size_t more = shape.classes.size() - 1;
            root.blamed_types += more;
            if (names[n].space == 's' || names[n].space == 'u')
                root.blamed_structs += more;
            if (names[n].root != TypeName::none)
                continue;
            names[n].root = names[by].root;
            names[n].split = s;
            queue.push_back(n);
        }
    }
}

} // namespace btflink::merge
