// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the slots of classes, and the targets of nodes' slots.
#pragma once

#include "merge/dedup/conflicts/conflict_graph.h"

namespace btflink::merge
{

/// Fills `slots`.
void make_slots(const ClassGraph &graph, ConflictGraph &out);

/// Fills `edge_begin`, `edges` and `paths`.
void make_edges(const Sources &sources, const Classes &classes, const ClassGraph &graph,
                unsigned threads, ConflictGraph &out);

/// If any object has a struct together with only the declaration of an enum, the struct refers to
/// the declaration in all objects, and agrees with every definition. So the order of objects does
/// not matter. (Only prototypes and pointers can refer to a declared enum, so no layout depends on
/// it.)
void declare_enum_slots(const ClassGraph &graph, ConflictGraph &out);

} // namespace btflink::merge
