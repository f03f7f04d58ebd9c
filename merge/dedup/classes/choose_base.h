// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the types of a base that take part in the deduplication.
#pragma once

#include "merge/base_index/base_index.h"
#include "merge/dedup/classes/group_by_hash.h"
#include "merge/input/prune_base.h"

#include <memory>

namespace btflink::merge
{

/// What is known of the base when its types have been chosen. One of both is there.
struct BaseKnowledge {
    std::unique_ptr<const BasePart> part;
    const BaseIndex *index = nullptr;
};

/// What the result continues.
struct GivenBase {
    const Btf *btf = nullptr;         // null: nothing
    const BaseIndex *index = nullptr; // of it; null: there is none
    Bytes blob;                       // that `btf` is of
    Where where;
};

/// `classes`, those of the objects' types, become those of all; classes of base types come first.
/// An index is asked if there is one and it says enough for these objects, else the base is
/// searched. The answer is the same. `all`: all that may have anything to do with the objects is
/// chosen, for those who want to explain the result.
Result<BaseKnowledge> choose_base(Sources &sources, Classes &classes,
                                  const std::vector<Object> &objects, const GivenBase &given,
                                  bool all);

} // namespace btflink::merge
