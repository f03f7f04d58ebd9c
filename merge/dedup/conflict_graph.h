// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3a: the part of the type graph that reaches a name with several definitions.
#pragma once

#include "merge/dedup/class_graph.h"
#include "merge/dedup/vectors.h"

#include <memory>

namespace btflink::merge
{

enum Role : uint8_t {
    role_plain,   // final by its class
    role_node,    // definition of a hot name, or tainted struct without a name
    role_forward, // forward declaration of a hot name
    role_ref,     // tainted, and neither
};

/// A struct of one object, or (a hole) the declaration of one.
struct Node {
    uint32_t source;
    TypeId type;
    uint32_t cls;  // class; of a hole: none
    uint32_t name; // a hot name, or a number behind all names: that of a class without one
    bool is_hole() const { return cls == none; }
};

/// What a node's slots are, path by path.
struct Path {
    uint32_t slot, target;
};
using Paths = std::vector<Path>;

struct HotGraph {
    std::vector<bool> hot;           // per name: a conflict, or its definition reaches one
    std::vector<bool> tainted;       // per class: it reaches a conflict
    std::vector<uint8_t> role;       // per class
    std::vector<uint32_t> slot_name; // per class of nodes and forwards: see Node::name; else none
    uint32_t slot_names = 0;         // how many there are
    uint64_t conflicts = 0, tainted_classes = 0, tainted_types = 0;

    std::vector<Node> nodes;                   // by source, then type
    std::vector<uint32_t> node_begin;          // per source, and the end
    std::vector<TypeId> refs;                  // by source: tainted types that are no nodes
    std::vector<uint32_t> ref_begin;           // per source, and the end
    Lists members;                             // per class: nodes
    Lists slots;                               // per class: the names of what it refers to
    std::vector<uint64_t> edge_begin;          // per node, and the end
    std::vector<uint32_t> edges;               // per node and slot: a node; none: its object lies
    std::vector<std::unique_ptr<Paths>> paths; // per node, if names do not tell its slots

    /// The node that a type is; none: it is none.
    uint32_t node_at(size_t source, TypeId type) const;
};

/// Does the base declare this name? Then that is one of its meanings, whoever defines it.
bool base_declares(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   uint32_t name);

/// Without conflicts only `hot`, `tainted` and `conflicts` are there.
HotGraph make_hot_graph(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                        unsigned threads);

} // namespace btflink::merge
