// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The positions of each object's variables and functions in the image.
#pragma once

#include "merge/link/image.h"

#include <vector>

namespace btflink::merge
{

struct Location {
    enum State : uint8_t {
        unknown,
        discarded, // by the linker: all ones in a pool, or no place there
        undefined, // declared but defined nowhere
        common,    // gets its address at the final link
        known,     // 0 in a linked image may mean "discarded"; the user must decide
    };
    State state = unknown;
    Address address; // known
};

struct Locations {
    std::vector<std::vector<Location>> pool;      // [object][pool index - 1]
    std::vector<std::vector<Location>> variables; // [object][variable]
    // The object has a pool, and the image has pools, but not this one: the object was not linked,
    // for example an archive member that was not needed.
    std::vector<bool> not_linked;
    uint32_t objects_without_pool = 0; // with an image: located by symbols
};

Locations locate(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                 const Image &image);

} // namespace btflink::merge
