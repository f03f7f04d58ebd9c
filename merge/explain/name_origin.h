// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the object with a name that BTF does not allow, such as names of C++ and Rust.
#pragma once

#include "merge/input/load_objects.h"

#include <string>
#include <vector>

namespace btflink::merge
{

/// `error`: of check_btf() for `btf`. If it is about a name, describes the first object that has
/// the name; else, or if none has it, returns "".
std::string name_origin(const Error &error, const Btf &btf, const std::vector<Object> &objects);

} // namespace btflink::merge
