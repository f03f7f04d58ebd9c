// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The deduplication engine: finds the types of all objects that are equal. README.md describes the
// algorithm. write_types() writes BTF from the result.
#pragma once

#include "merge/dedup/classes/choose_base.h"
#include "merge/dedup/partition.h"
#include "merge/stats.h"

namespace btflink::merge
{

/// Refers to the objects and the base.
struct MergedTypes {
    Sources sources;
    Partition partition;
};

/// `not_linked`: objects to leave out. `base`: null without one. `explained`: use all of the base,
/// so that the result can be explained. If `loaded` has classes, there is no base and all objects
/// were linked.
MergedTypes merge_types(const LoadedObjects &loaded, const std::vector<bool> &not_linked,
                        const BaseIndex *base, bool explained, unsigned threads, Stats &stats);

} // namespace btflink::merge
