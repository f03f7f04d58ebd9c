// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Where each object's variables and functions are in the image.
#pragma once

#include "merge/link/image.h"

#include <vector>

namespace btflink::merge
{

struct Location {
    enum State : uint8_t {
        unknown,   // cannot be found out
        discarded, // the linker dropped it, and says so: all ones in a pool, or no place there
        undefined, // declared, defined nowhere
        common,    // gets its place at the final link
        known,     // in a linked image 0 may mean "discarded": whoever uses it must judge
    };
    State state = unknown;
    Address address; // known
};

struct Located {
    std::vector<std::vector<Location>> pool;      // [object][pool index - 1]
    std::vector<std::vector<Location>> variables; // [object][variable]
    // The object says that it brought a pool and the image has pools, but not this one: it was not
    // linked (an archive member that nobody needed).
    std::vector<bool> not_linked;
    uint32_t not_linked_count = 0;
    uint32_t objects_without_pool = 0; // with an image; symbols were asked instead
    uint32_t by_symbol = 0;            // addresses that came from symbols instead of a pool
};

Located locate(const std::vector<Input> &inputs, const std::vector<Object> &objects,
               const Image &image);

} // namespace btflink::merge
