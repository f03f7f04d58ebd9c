// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks the contents of link trailers (--verify).
#pragma once

#include "merge/input/load_objects.h"

namespace btflink::merge
{

/// Error: the first object, in link order, with wrong hashes, marks or object id in its link
/// trailer. Call it before anything changes the objects.
Result<void> verify_objects(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                            unsigned threads);

} // namespace btflink::merge
