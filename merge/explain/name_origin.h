// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out which object has a name that BTF does not allow. C++ and Rust have such names, and the
// merged BTF does not say which object a type comes from.
#pragma once

#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// `error`, which check_btf() found in `btf`; if it is about a name, with the object and the unit
/// that have it, and the cure.
Error with_origin(Error error, const Btf &btf, const std::vector<Object> &objects);

} // namespace btflink::merge
