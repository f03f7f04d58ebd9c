// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Classes of types with equal stub hashes: the first partition of all types.
#pragma once

#include "common/graph/unset_vector.h"
#include "merge/dedup/ids.h"
#include "merge/dedup/type_space.h"

#include <vector>

namespace btflink::merge
{

struct Classes {
    /// The lowest type of each class. Classes are numbered in the order of these types.
    IdVector<ClassId, TypeAt> first;
    /// The class of each type, in the numbering of Sources; none if it is not a plain type.
    UnsetVector<ClassId> of;
};

/// Groups the objects' types; choose_base() adds those of a base.
Classes group_by_hash(const Sources &sources, unsigned threads);

} // namespace btflink::merge
