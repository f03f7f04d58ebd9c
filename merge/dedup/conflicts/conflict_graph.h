// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The conflict graph: the structs of all objects from which a conflict is reachable, and what each
// of them reaches.
#pragma once

#include "common/graph/graphs.h"
#include "merge/dedup/classes/classes.h"
#include "merge/dedup/hash_bits.h"

#include <memory>

namespace btflink::merge
{

/// See Node. A slot with NodeId::none as its target agrees with any definition.
enum class NodeId : uint32_t { none = UINT32_MAX };

/// A group of nodes that become one type in the result. A group has the number of its
/// representative.
enum class GroupId : uint32_t { none = UINT32_MAX };

constexpr NodeId representative(GroupId group)
{
    return NodeId{raw(group)};
}
constexpr GroupId group_founded_by(NodeId node)
{
    return GroupId{raw(node)};
}

/// The position of a slot among the slots of its class.
enum class SlotId : uint32_t {};

/// The role of a class in the conflict graph. A conflict is affected, and so is each name or class
/// that reaches one.
enum Role : uint8_t {
    role_final,   // not affected: one type of the result
    role_node,    // definition of an affected name, affected unnamed struct, or cut out of a cycle
    role_forward, // forward declaration of an affected name
    role_between, // other affected types: pointers, prototypes, typedefs between nodes
};

/// A type of one source whose class has the role of a node or a forward declaration.
struct Node {
    uint32_t source;
    TypeId type;
    ClassId cls; // none for a forward declaration
    NameId name; // an affected name; for a node without one, a number after all names
    bool is_forward() const { return cls == ClassId::none; }
};

/// The end of a path from a node: the slot, and the node there.
struct Path {
    SlotId slot;
    NodeId target;
};
using Paths = std::vector<Path>;

struct ConflictGraph {
    IdVector<NameId, bool> affected_names;    // a conflict, or a name whose definition reaches one
    IdVector<ClassId, bool> affected_classes; // the class refers to an affected name or class
    IdVector<ClassId, Role> role;
    IdVector<ClassId, NameId> slot_name; // nodes, declarations: see Node::name; others: none
    uint32_t slot_names = 0;             // the end of these numbers
    uint64_t count = 0;                  // number of conflicts

    IdVector<NodeId, Node> nodes;        // by source, then type
    std::vector<NodeId> node_begin;      // first node per source, and the end
    std::vector<bool> twins;             // per node of a base: a twin, but not the first
    std::vector<TypeId> between;         // types between nodes, by source
    std::vector<uint32_t> between_begin; // first of them per source, and the end
    // The slots of each class with role_node: the names (see Node::name) to which it leads without
    // passing another node.
    Lists<ClassId, NameId> slots;
    IdVector<NodeId, uint64_t> edge_begin; // first edge per node, and the end
    std::vector<NodeId> edges;             // per definition and slot: the target
    // The paths of definitions that have slots and are in ambiguous objects; null for other nodes.
    // In any object, a definition may have an empty list instead. Then it equals no other node: the
    // walk that finds its paths would be too long, or its object has wrong hashes.
    IdVector<NodeId, std::unique_ptr<Paths>> paths;

    IdRange<NodeId> nodes_of(size_t source) const
    {
        return {node_begin[source], node_begin[source + 1]};
    }
    bool is_definition(NodeId n) const { return n != NodeId::none && !nodes[n].is_forward(); }
    ClassId class_of(GroupId group) const { return nodes[representative(group)].cls; }
    /// The targets of a definition's slots. Empty for a forward declaration, and for some
    /// definitions in objects with wrong hashes; these have an empty list of paths.
    std::span<const NodeId> edges_of(NodeId n) const
    {
        return {edges.data() + edge_begin[n], edges.data() + edge_begin[NodeId{raw(n) + 1}]};
    }
    /// The node of a type; none if the type is not a node.
    NodeId node_at(size_t source, TypeId type) const;
};

/// Does the base declare this name? Then the base's declaration stays, even if objects define the
/// name.
bool base_declares(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   NameId name);

/// Without conflicts, only `affected_names`, `affected_classes` and `count` are filled.
ConflictGraph make_conflict_graph(const Sources &sources, const Classes &classes,
                                  const ClassGraph &graph);

// Steps of make_conflict_graph() that have files of their own.

/// Fills `affected_names`, `affected_classes` and `count`.
void find_affected(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   ConflictGraph &out);
/// Fills `slots`.
void make_slots(const ClassGraph &graph, ConflictGraph &out);
/// Fills `edge_begin`, `edges` and `paths`.
void make_edges(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                ConflictGraph &out);
/// If a slot of a struct leads to a mere declaration of an enum in any object, the slot loses its
/// target in the objects that define the enum. It then agrees with every definition, so the order
/// of objects does not matter. (Structs refer to a declared enum only through pointers and
/// prototypes, so no layout depends on the enum.)
void declare_enum_slots(const ClassGraph &graph, ConflictGraph &out);

// reachable_conflicts.cc: the conflicts and forward declarations that each node reaches in its
// object.

/// Nodes of one class that reach the same set are equal, unless their object is ambiguous. Nodes
/// that reach different sets differ, unless they may reach a forward declaration.
struct ReachableConflicts {
    IdVector<NodeId, uint32_t> set_of; // number of its set; no_number in ambiguous objects
    // Per set: it has forward declarations, or definitions of names that the base declares.
    std::vector<bool> has_forward;
    std::vector<bool> ambiguous;        // per source: a node has paths or is a twin
    IdVector<NodeId, NodeId> canonical; // in ambiguous objects: the lowest equal node

    /// May a forward declaration be reachable from the node, or from types of the base that
    /// replace those of the node's object?
    bool may_reach_forward(NodeId node) const
    {
        return set_of[node] == no_number || has_forward[set_of[node]];
    }
};

ReachableConflicts find_reachable_conflicts(const Sources &sources, const Classes &classes,
                                            const ClassGraph &graph, const ConflictGraph &conflicts,
                                            unsigned threads);

} // namespace btflink::merge
