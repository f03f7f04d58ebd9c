// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks what objects state about themselves (--verify).
#pragma once

#include "merge/input/load_objects.h"

namespace btflink::merge
{

/// Error: the first object, in link order, whose link trailer states wrong hashes, marks or a wrong
/// object id. Call it before anything changes the objects.
Result<void> verify_objects(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                            unsigned threads);

} // namespace btflink::merge
