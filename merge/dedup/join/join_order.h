// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The order in which objects join groups.
#pragma once

#include "merge/dedup/conflicts/conflict_graph.h"

namespace btflink::merge
{

/// All sources, a base first. Sources with the same definitions of conflicting names are
/// neighbours.
std::vector<uint32_t> order_by_definitions(const Sources &sources, const ConflictGraph &conflicts);

} // namespace btflink::merge
