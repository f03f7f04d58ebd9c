// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3c: in which order objects join groups.
#pragma once

#include "merge/dedup/conflict_graph.h"

namespace btflink::merge
{

/// All sources, a base first. Those that have the same definitions of names with several come one
/// after the other.
std::vector<uint32_t> order_by_meaning(const Sources &sources, const HotGraph &hot);

} // namespace btflink::merge
