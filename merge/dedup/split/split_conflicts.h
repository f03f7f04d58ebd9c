// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes classes final: types that reach a conflict are split by the definitions that they reach,
// and forward declarations are resolved.
#pragma once

#include "merge/dedup/hash_bits.h"
#include "merge/dedup/join/join_groups.h"

#include <unordered_map>

namespace btflink::merge
{

/// `alternatives`: from join_groups(); empty without conflicts. The one that leaves the fewest
/// types is taken.
Partition split_conflicts(const Sources &sources, Classes classes, const ClassGraph &graph,
                          const ConflictGraph &conflicts, const std::vector<Groups> &alternatives);

// The steps that have files of their own, and what they share: the input, and the final classes
// that they make.

struct SplitInput {
    const Sources &sources;
    const ClassGraph &graph;
    const ConflictGraph &conflicts;
    const Groups &groups;

    TypeAt type_at(NodeId n) const { return {conflicts.nodes[n].source, conflicts.nodes[n].type}; }
};

/// The final classes of types between nodes. The key of a type is its class, and the final classes
/// of those references that are nodes or types between nodes. On a cycle, possible only with wrong
/// hashes, a word may be no class (word_of_source() in types_between.cc).
struct BetweenKeys {
    VectorIndex keys;                 // a key comes after the keys of the classes in it
    std::vector<ClassId> final_class; // per key
};

/// The final classes created so far.
struct FinalClasses {
    Partition partition;
    IdVector<NodeId, ClassId> of_node = {};
    BetweenKeys keys = {};            // of types between nodes
    std::vector<ClassId> origin = {}; // class from which each added class was split

    ClassId of_group(GroupId group) const { return of_node[representative(group)]; }
    /// The class of the class graph from which a final class was split.
    ClassId origin_of(ClassId c) const
    {
        const size_t old = partition.classes.size() - origin.size();
        return raw(c) < old ? c : origin[raw(c) - old];
    }

    /// Adds a final class that is split from `c`. `first`: its first type (see FinalClass). Returns
    /// the final class: `c` itself if `c` begins with `first` and is not live yet.
    ClassId add(ClassId c, TypeAt first, TypeAt canonical)
    {
        FinalClass &old = partition.classes[c];
        if (first == old.first && !old.live) {
            old.canonical = canonical;
            old.live = true;
            return c;
        }
        const ClassId number = partition.classes.next_id();
        origin.push_back(c);
        partition.classes.push_back({first, canonical, true});
        partition.alias.push_back(number);
        return number;
    }
};

/// A forward declaration and the definitions that it may stand for.
struct UnresolvedForward {
    ClassId forward;   // its final class
    ClassId preferred; // one of `candidates`, or none
    bool is_enum;
    std::vector<ClassId> candidates; // final classes, that of the lowest group first
};

/// Finds the final classes of the types between nodes: pointers, prototypes, typedefs and the like.
/// `finals` has those of all nodes already. Replaces the classes in `classes.of` by final classes,
/// source by source; the walk of a source does not read those of other sources.
void assign_between(const SplitInput &in, Classes &classes, FinalClasses &finals);

/// Sets the references (FinalClass::refs) of each group that has resolved forward declarations.
/// These references may lead to new types between nodes, which are added.
void resolve_references(const SplitInput &in, FinalClasses &finals);

/// Looks for pairs of typedefs with the same name and form, of which one leads to forward
/// declarations and the other to their definitions. In `partition` the first becomes an alias of
/// the second. Replaces `keys` by keys without aliases. Returns, by declaration, the definition
/// that a typedef showed.
std::unordered_map<ClassId, ClassId>
resolve_typedefs(const std::vector<UnresolvedForward> &forwards, const ClassGraph &graph,
                 BetweenKeys &keys, Partition &partition);

/// Chooses a definition for each of these declarations, one after the other. In `partition` the
/// declaration's class becomes an alias of the chosen candidate's class, for all uses that no group
/// has resolved, also in structs. Types between nodes that thereby become equal to others become
/// aliases, too.
void resolve_forwards(const std::vector<UnresolvedForward> &forwards, BetweenKeys &keys,
                      Partition &partition);

} // namespace btflink::merge
