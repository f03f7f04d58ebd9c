// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The conflict graph: the structs of all objects from which a conflict is reachable.
#pragma once

#include "common/graph/lists.h"
#include "merge/dedup/class_graph.h"
#include "merge/dedup/vectors.h"

#include <memory>

namespace btflink::merge
{

/// What a class is to the conflict graph. "Affected" is a name or class that reaches a conflict.
enum Role : uint8_t {
    role_final,   // not affected: one type of the result
    role_node,    // definition of an affected name, or affected struct without a name
    role_forward, // forward declaration of an affected name
    role_between, // affected, and neither: pointers, prototypes, typedefs between nodes
};

/// A struct of one object, or a forward declaration in it.
struct Node {
    uint32_t source;
    TypeId type;
    uint32_t cls;  // class; of a forward declaration: none
    uint32_t name; // an affected name; of a class without one, a number behind all names
    bool is_forward() const { return cls == none; }
};

/// Where one path from a node leads: the slot, and the node there.
struct Path {
    uint32_t slot, target;
};
using Paths = std::vector<Path>;

struct ConflictGraph {
    std::vector<bool> affected_names;   // per name: a conflict, or its definition reaches one
    std::vector<bool> affected_classes; // per class: it reaches a conflict
    std::vector<uint8_t> role;          // per class
    std::vector<uint32_t> slot_name; // per class of nodes and forwards: see Node::name; else none
    uint32_t slot_names = 0;         // how many there are
    uint64_t count = 0;              // of conflicts
    uint64_t affected_class_count = 0, affected_type_count = 0;

    std::vector<Node> nodes;                   // by source, then type
    std::vector<uint32_t> node_begin;          // per source, and the end
    std::vector<TypeId> refs;                  // by source: types between nodes
    std::vector<uint32_t> ref_begin;           // per source, and the end
    Lists members;                             // per class: nodes
    Lists slots;                               // per class: the names of what it refers to
    std::vector<uint64_t> edge_begin;          // per node, and the end
    std::vector<uint32_t> edges;               // per node and slot: a node; none: unresolved
    std::vector<std::unique_ptr<Paths>> paths; // per node, if names do not tell its slots

    /// The node that a type is; none: it is none.
    uint32_t node_at(size_t source, TypeId type) const;
};

/// Does the base declare this name? Then its declaration is a meaning of its own, whoever defines
/// the name.
bool base_declares(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   uint32_t name);

/// Without conflicts, only `affected_names`, `affected_classes` and `count` are filled.
ConflictGraph make_conflict_graph(const Sources &sources, const Classes &classes,
                                  const ClassGraph &graph, unsigned threads);

} // namespace btflink::merge
