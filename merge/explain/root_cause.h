// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which names of a merge's result have several definitions, and which of them are to blame.
#pragma once

#include "merge/dedup/dedup.h"
#include "merge/dedup/vectors.h"

#include <unordered_map>

namespace btflink::merge
{

/// A name, and the classes that it has in the result.
struct Name {
    char space;
    std::vector<uint32_t> classes;  // definitions, in order
    uint32_t forward = none;        // a declaration that stayed one
    std::vector<uint32_t> versions; // shapes that differ, in order; of a root two or more
    bool is_root() const { return versions.size() > 1; }
};

/// How something was split: at `position` of its references by `by`, a vertex.
struct Edge {
    uint32_t by, shape, position;
    auto operator<=>(const Edge &) const = default;
};

class SplitGraph
{
public:
    explicit SplitGraph(const MergedTypes &types);

    const std::vector<Name> &names() const { return names_; }
    /// The final classes of a shape, in order.
    const std::vector<uint32_t> &members(uint32_t shape) const { return members_[shape]; }
    /// The name because of which `name` has several definitions, perhaps itself; none: it has one.
    uint32_t root_of(uint32_t name) const { return root_[name]; }
    /// What split the only shape of a name that is no root.
    const Edge &parent_of_name(uint32_t name) const { return parent_[split_name_[name]]; }
    /// What split an unnamed shape.
    const Edge &parent_of_shape(uint32_t shape) const { return parent_[shape]; }
    bool is_name(uint32_t vertex) const { return vertex < names_.size(); }
    uint32_t shape_of_vertex(uint32_t vertex) const
    {
        return vertex - static_cast<uint32_t>(names_.size());
    }

    /// Types beyond the first of each shape that were split because of a root.
    struct Blame {
        size_t types = 0, structs = 0; // all; named structs and unions
    };
    const Blame &blame(uint32_t root) const { return blame_[root]; }
    /// Types that were split and have no root.
    size_t unexplained() const { return unexplained_; }

    TypeAt canonical(uint32_t c) const { return partition_.classes[c].canonical; }
    const Btf &btf_of(uint32_t c) const { return *sources_.list[canonical(c).source].btf; }
    /// What a shape says of a reference in a type of `source`: equal for equal names.
    uint64_t stub_at(uint32_t source, uint32_t ref) const { return stub(class_at(source, ref)); }

private:
    uint32_t class_at(uint32_t source, uint32_t ref) const
    {
        if (!ref || !sources_.is_plain(source, TypeId{ref}))
            return no_class;
        size_t index = sources_.index(source, TypeId{ref});
        return partition_.of[index] == no_class ? no_class : partition_.class_of(index);
    }
    bool is_live(uint32_t c) const
    {
        return partition_.classes[c].live && partition_.alias[c] == c;
    }
    uint32_t vertex_of_shape(uint32_t shape) const
    {
        return static_cast<uint32_t>(names_.size()) + shape;
    }
    /// The name or unnamed shape that a class is of.
    uint32_t vertex_of(uint32_t c) const
    {
        return name_[c] != none ? name_[c] : vertex_of_shape(shape_[c]);
    }
    uint64_t stub(uint32_t c) const;
    void refs_of(uint32_t c, std::vector<uint32_t> &out) const;
    uint64_t shape_hash(uint32_t c, const std::vector<uint32_t> &refs, std::string &buffer) const;
    void find_names();
    void find_shapes();
    void find_roots();
    std::vector<Edge> edges() const;
    void find_blame();

    const Sources &sources_;
    const Partition &partition_;
    std::vector<Name> names_;
    std::vector<uint32_t> name_;                 // per class; none
    std::vector<uint64_t> hash_;                 // per class: of its shape
    std::vector<uint32_t> shape_;                // per class that is live
    std::vector<std::vector<uint32_t>> members_; // per shape: classes
    std::vector<uint32_t> root_;                 // per vertex (a name, then a shape): a name
    std::vector<Edge> parent_;                   // per shape: what split it
    std::vector<uint32_t> split_name_;           // per name: its shape that was split; none: a root
    std::vector<Blame> blame_;                   // per name
    size_t unexplained_ = 0;
};

} // namespace btflink::merge
