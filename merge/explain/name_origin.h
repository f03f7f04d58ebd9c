// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the object with an illegal name, such as names of C++ and Rust.
#pragma once

#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// `error`: from check_btf() for `btf`. If it concerns a name, describes the first object with this
/// name; otherwise, or if no object has it, returns "".
std::string name_origin(const Error &error, const Btf &btf, const std::vector<Object> &objects);

} // namespace btflink::merge
