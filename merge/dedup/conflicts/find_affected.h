// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the conflicts, and the names and classes that reach one.
#pragma once

#include "merge/dedup/conflicts/conflict_graph.h"

namespace btflink::merge
{

/// Fills affected_names, affected_classes and the numbers of conflicts and affected classes.
void find_affected(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                   ConflictGraph &out);

} // namespace btflink::merge
