// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds what typedefs that lead to forward declarations mean where these are defined.
#pragma once

#include "merge/dedup/classes/class_graph.h"
#include "merge/dedup/split/resolve_forwards.h"

#include <unordered_map>

namespace btflink::merge
{

/// Each typedef that leads to some of the declarations becomes an alias, in `partition`, of one of
/// the same name and form that leads to definitions instead, if there is one. `keys` are made anew,
/// without aliases. Returns for declarations the definition that a typedef showed.
std::unordered_map<ClassId, ClassId>
resolve_typedefs(const std::vector<UnresolvedForward> &forwards, const ClassGraph &graph,
                 RefKeys &keys, Partition &partition);

} // namespace btflink::merge
