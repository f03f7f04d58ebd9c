// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes classes final: types that reach a conflict are split by the definitions that they reach,
// and forward declarations are resolved.
#pragma once

#include "merge/dedup/join/join_groups.h"
#include "merge/dedup/partition.h"

namespace btflink::merge
{

/// `ways`: ways of joining nodes. The one that leaves the fewest types is taken.
Partition split_conflicts(const Sources &sources, Classes classes, const ClassGraph &graph,
                          const ConflictGraph &conflicts, const std::vector<Groups> &ways);

} // namespace btflink::merge
