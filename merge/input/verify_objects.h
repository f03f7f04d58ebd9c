// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks what objects state about themselves.
#pragma once

#include "merge/input/load_objects.h"

namespace btflink::merge
{

/// Error: an object whose link trailer states other hashes, marks or another object id than its
/// types and bytes have. The first in link order. The objects must be as they were loaded.
Result<void> verify_objects(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                            unsigned threads);

} // namespace btflink::merge
