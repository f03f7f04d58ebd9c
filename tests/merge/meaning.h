// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a merge must get right, worked out slowly and plainly from its inputs.
#pragma once

#include "common/btf/btf.h"

#include <set>
#include <string>
#include <vector>

namespace btflink::merge::test
{

/// The names of enums that one of these only declares.
std::set<std::string> declared_enums(const std::vector<Btf> &objects);

/// Has each type of `object` a type in `merged` that means the same? Names the first that has none;
/// "" if all have. Declarations of the object may have found their definitions. In structs of the
/// base, what that only declares agrees with any definition; in any struct, so do the enums of
/// `declared`, which an object may have there with no more than the declaration.
std::string first_lost(const Btf &object, const Btf &merged, const std::set<std::string> &declared);

/// How many types are left if all are one that agree in everything that they reach. With forward
/// declarations there may be less: these are taken for types of their own.
size_t fewest_types(const std::vector<const Btf *> &objects);

} // namespace btflink::merge::test
