// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses definitions for forward declarations that no struct resolves.
#pragma once

#include "merge/dedup/partition.h"
#include "merge/dedup/vectors.h"

namespace btflink::merge
{

/// The final classes of types between nodes, by their contents.
struct RefKeys {
    VectorIndex keys; // class, and the final classes that it refers to; their keys come first
    std::vector<ClassId> final_class; // per key
};

/// A forward declaration and the definitions that it may stand for.
struct UnresolvedForward {
    ClassId forward;   // its final class
    ClassId preferred; // one of `candidates`, or none
    bool is_enum;
    std::vector<ClassId> candidates; // final classes, lowest first
};

/// Resolves each in order: its class in `partition` becomes an alias of a candidate's.
void resolve_forwards(const std::vector<UnresolvedForward> &forwards, RefKeys &keys,
                      Partition &partition);

} // namespace btflink::merge
