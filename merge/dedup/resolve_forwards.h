// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Engine pass 3d: what forward declarations mean where no struct tells.
#pragma once

#include "merge/dedup/split_conflicts.h"
#include "merge/dedup/vectors.h"

namespace btflink::merge
{

/// Final classes of what lies between structs, by what they are.
struct RefKeys {
    VectorIndex keys; // class, then the final classes that it refers to; those come first
    std::vector<uint32_t> final_class; // per key
};

/// A declaration, and what it may stand for.
struct OpenForward {
    uint32_t forward;               // its final class
    uint32_t preferred;             // one of `variants`, or none
    std::vector<uint32_t> variants; // final classes, lowest first
};

/// Give each a meaning: classes of `partition` become aliases of others. `open` in order.
void choose_forwards(const std::vector<OpenForward> &open, RefKeys &keys, Partition &partition);

} // namespace btflink::merge
