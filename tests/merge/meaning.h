// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a merge must get right, worked out slowly and plainly from its inputs.
#pragma once

#include "common/btf/btf.h"

#include <string>
#include <vector>

namespace btflink::merge::test
{

/// Has each type of `object` a type in `merged` that means the same? Declarations of the object
/// may have found their definitions. Names the first that has none; "" if all have.
std::string first_lost(const Btf &object, const Btf &merged);

/// How many types are left if all are one that agree in everything that they reach. With forward
/// declarations there may be less: these are taken for types of their own.
size_t fewest_types(const std::vector<const Btf *> &objects);

} // namespace btflink::merge::test
