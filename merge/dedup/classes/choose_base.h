// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the types of a base that take part in the deduplication.
#pragma once

#include "merge/base_index/base_index.h"
#include "merge/dedup/classes/group_by_hash.h"
#include "merge/input/prune_base.h"

#include <memory>

namespace btflink::merge
{

/// How the types of the base were chosen. Exactly one is set.
struct BaseKnowledge {
    std::unique_ptr<const BasePart> part;
    const BaseIndex *index = nullptr;
};

/// The base of the result.
struct GivenBase {
    const Btf *btf = nullptr;         // null without a base
    const BaseIndex *index = nullptr; // of the base; null without an index
    Bytes blob;                       // the bytes from which `btf` was parsed
    Where where;
};

/// Adds the classes of the chosen types to `classes`, before those of the objects. The index
/// chooses if it is sufficient for these objects, otherwise a search of the base. Both choose the
/// same types. `all`: choose every type that the objects may share, so that the result can be
/// explained.
Result<BaseKnowledge> choose_base(Sources &sources, Classes &classes,
                                  const std::vector<Object> &objects, const GivenBase &given,
                                  bool all);

} // namespace btflink::merge
