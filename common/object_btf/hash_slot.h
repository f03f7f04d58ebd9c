// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A slot of an OpenTable whose keys are hashes of types. These are random already, so their low
// half is used as it is.
#pragma once

#include "common/object_btf/type_hash.h"

#include <cstdint>

namespace btflink
{

struct HashSlot {
    Hash128 hash;
    uint32_t entry = 0; // index + 1; 0: free

    bool is_free() const { return entry == 0; }
    uint64_t home() const { return hash.low; }
};

} // namespace btflink
