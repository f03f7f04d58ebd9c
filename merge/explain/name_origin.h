// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out which object has a name that BTF does not allow. C++ and Rust have such names, and the
// merged BTF does not say which object a type comes from.
#pragma once

#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// `error` is one that check_btf() found in `btf`. If it is about a name: the object, and the unit,
/// that have it; else, or if they are not known, "".
std::string name_origin(const Error &error, const Btf &btf, const std::vector<Object> &objects);

} // namespace btflink::merge
