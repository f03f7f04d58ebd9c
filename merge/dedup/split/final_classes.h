// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The input of the steps of split_conflicts.cc, and the final classes that they create.
#pragma once

#include "merge/dedup/join/join_groups.h"
#include "merge/dedup/split/resolve_forwards.h"

namespace btflink::merge
{

struct SplitInput {
    const Sources &sources;
    const ClassGraph &graph;
    const ConflictGraph &conflicts;
    const Groups &groups;

    TypeAt type_at(NodeId n) const { return {conflicts.nodes[n].source, conflicts.nodes[n].type}; }
};

/// The final classes created so far.
struct FinalClasses {
    Partition partition;
    IdVector<NodeId, ClassId> of_node = {};
    RefKeys keys = {};                // of types between nodes
    std::vector<ClassId> origin = {}; // class from which each added class was split

    ClassId of_group(GroupId group) const { return of_node[representative(group)]; }
    /// The class of the class graph from which a final class was split.
    ClassId origin_of(ClassId c) const
    {
        const size_t old = partition.classes.size() - origin.size();
        return raw(c) < old ? c : origin[raw(c) - old];
    }

    /// A final class of types that were in `c`: `c` itself, if it begins with the same type.
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

} // namespace btflink::merge
