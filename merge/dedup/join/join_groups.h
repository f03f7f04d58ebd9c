// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Joins equal nodes of all objects into groups.
#pragma once

#include "merge/dedup/join/groups.h"

namespace btflink::merge
{

/// At least one way to join. Each is right; the one that leaves the fewest types is the best.
std::vector<Groups> join_groups(const Sources &sources, const ClassGraph &graph,
                                const ConflictGraph &conflicts,
                                const ReachableConflicts &reachable);

} // namespace btflink::merge
