// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the types of a base that take part in the deduplication.
#pragma once

#include "merge/base_index/base_index.h"
#include "merge/dedup/classes/group_by_hash.h"

namespace btflink::merge
{

/// Adds the classes of the chosen types to `classes`, before those of the objects. `all`: choose
/// every type that the objects may share, so that the result can be explained.
void choose_base(Sources &sources, Classes &classes, const BaseIndex &base, bool all);

} // namespace btflink::merge
