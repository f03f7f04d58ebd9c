// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Final classes of the types between nodes: pointers, prototypes, typedefs and the like.
#pragma once

#include "merge/dedup/split/final_classes.h"

namespace btflink::merge
{

/// Types, by their index in Sources, and their final classes.
using SplitTypes = std::vector<std::pair<size_t, ClassId>>;

/// Also assigns the types of nodes. `made` has the final classes of all nodes.
SplitTypes assign_between(const SplitInput &in, const Classes &classes, FinalClasses &made);

} // namespace btflink::merge
