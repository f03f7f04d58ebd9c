// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the names with several definitions in a result, and the root cause of each.
#pragma once

#include "merge/dedup/dedup.h"
#include "merge/dedup/hash_bits.h"

#include <unordered_map>

namespace btflink::merge
{

/// A name of structs, unions, enums or typedefs in the result.
enum class TypeName : uint32_t { none = UINT32_MAX };
/// Classes that differ only in the types that they refer to have one shape.
enum class Shape : uint32_t { none = UINT32_MAX };
/// A name or an unnamed shape: the possible reasons for splitting a shape.
enum class Vertex : uint32_t {};

/// A name and its classes in the result.
struct NameUse {
    char space;
    std::vector<ClassId> classes;    // definitions, in order
    ClassId forward = ClassId::none; // a declaration without a definition
    std::vector<Shape> versions;     // its shapes, in order; a root has two or more
    bool is_root() const { return versions.size() > 1; }
};

/// A shape was split because its reference number `position` leads to `by`, which was split.
struct Edge {
    Vertex by;
    Shape shape;
    uint32_t position;
    auto operator<=>(const Edge &) const = default;
};

class SplitGraph
{
public:
    explicit SplitGraph(const MergedTypes &types);

    const IdVector<TypeName, NameUse> &names() const { return names_; }
    /// The final classes of a shape, in order.
    const std::vector<ClassId> &members(Shape shape) const { return members_[shape]; }
    /// The name that causes `name` to have several definitions, perhaps itself; none if there is
    /// one definition.
    TypeName root_of(TypeName name) const { return root_[vertex_of_name(name)]; }
    /// The edge that split the only shape of a name that is not a root.
    const Edge &parent_of_name(TypeName name) const { return parent_[split_name_[name]]; }
    /// The edge that split an unnamed shape.
    const Edge &parent_of_shape(Shape shape) const { return parent_[shape]; }
    /// The vertex as a name; none if it is a shape.
    TypeName name_of_vertex(Vertex vertex) const
    {
        return raw(vertex) < names_.size() ? TypeName{raw(vertex)} : TypeName::none;
    }
    Shape shape_of_vertex(Vertex vertex) const
    {
        return Shape{raw(vertex) - raw(names_.next_id())};
    }

    /// The number of types split because of a root: those beyond the first of each shape.
    struct Blame {
        size_t types = 0, structs = 0; // all types; named structs and unions
    };
    const Blame &blame(TypeName root) const { return blame_[root]; }
    /// Types that were split without a root.
    size_t unexplained() const { return unexplained_; }

    TypeAt canonical(ClassId c) const { return partition_.classes[c].canonical; }
    const Btf &btf_of(ClassId c) const { return *sources_.list[canonical(c).source].btf; }
    /// The contribution of a reference, from a type of `source`, to a shape; equal for equal names.
    uint64_t stub_at(uint32_t source, uint32_t ref) const { return stub(class_at(source, ref)); }

private:
    ClassId class_at(uint32_t source, uint32_t ref) const
    {
        if (!ref || !sources_.is_plain(source, TypeId{ref}))
            return ClassId::none;
        size_t index = sources_.index(source, TypeId{ref});
        return partition_.of[index] == ClassId::none ? ClassId::none : partition_.class_of(index);
    }
    // Names are the first vertices.
    static Vertex vertex_of_name(TypeName name) { return Vertex{raw(name)}; }
    Vertex vertex_of_shape(Shape shape) const { return Vertex{raw(names_.next_id()) + raw(shape)}; }
    /// The name of a class, or the shape of an unnamed one.
    Vertex vertex_of(ClassId c) const
    {
        return name_[c] != TypeName::none ? vertex_of_name(name_[c]) : vertex_of_shape(shape_[c]);
    }
    uint64_t stub(ClassId c) const;
    void refs_of(ClassId c, std::vector<ClassId> &out) const;
    uint64_t shape_hash(ClassId c, const std::vector<ClassId> &refs, std::string &buffer) const;
    void find_names();
    void find_shapes();
    void find_roots();
    std::vector<Edge> edges() const;
    void find_blame();

    const Sources &sources_;
    const Partition &partition_;
    IdVector<TypeName, NameUse> names_;
    IdVector<ClassId, TypeName> name_; // or none
    IdVector<ClassId, uint64_t> hash_; // of its shape
    IdVector<ClassId, Shape> shape_;   // of one that is live
    IdVector<Shape, std::vector<ClassId>> members_;
    IdVector<Vertex, TypeName> root_;
    IdVector<Shape, Edge> parent_;         // the edge that split it
    IdVector<TypeName, Shape> split_name_; // its shape that was split; none: a root
    IdVector<TypeName, Blame> blame_;
    size_t unexplained_ = 0;
};

} // namespace btflink::merge
