// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The engine of its own: equal types by stub hashes. Its first half looks at types only and so can
// run beside the passes that select functions and variables; the second half is write_types().
#pragma once

#include "merge/dedup/split_conflicts.h"
#include "merge/stats.h"

namespace btflink::merge
{

/// Refers to the objects and the base.
struct MergedTypes {
    Sources sources;
    Partition partition;
};

/// `base` may be null. `not_linked`: per object; these do not count.
Result<MergedTypes> merge_types(const std::vector<Object> &objects,
                                const std::vector<bool> &not_linked, const Btf *base,
                                const Where &base_where, unsigned threads, Stats &stats);

} // namespace btflink::merge
