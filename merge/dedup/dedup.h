// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Our deduplication engine: which types of all objects are equal. README.md tells the algorithm. It
// needs types only; write_types() makes BTF of the result.
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
    BaseKnowledge known; // if there is a base
};

/// `explained`: the result is to be explained, so all of the base is looked at. `not_linked`: per
/// object; these do not count. Where the classes are known already there is no base, and all
/// objects were linked.
Result<MergedTypes> merge_types(const Loaded &loaded, const std::vector<bool> &not_linked,
                                const GivenBase &base, bool explained, unsigned threads,
                                Stats &stats);

} // namespace btflink::merge
