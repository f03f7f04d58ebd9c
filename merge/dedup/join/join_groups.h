// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Joins equal nodes of all objects into groups.
#pragma once

#include "merge/dedup/join/groups.h"

namespace btflink::merge
{

/// At least one way of joining. All are right; the best leaves the fewest types.
std::vector<Groups> join_groups(const Sources &sources, const ClassGraph &graph,
                                const ConflictGraph &conflicts,
                                const ReachableConflicts &reachable);

} // namespace btflink::merge
