// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a merge must get right, worked out slowly and plainly from its inputs.
#pragma once

#include "common/btf/btf.h"

#include <set>
#include <string>
#include <vector>

namespace btflink::merge::test
{

/// What the objects of a program know between them.
struct Known {
    std::set<std::string> declared_enums; // that one of them only declares
    std::set<std::string> defined_by_one; // structs and unions that one of them defines, and no
                                          // other, nor the base
};
Known known_to(const std::vector<Btf> &objects, const Btf *base = nullptr);

/// Has each type of `object` a type in `merged` that means the same? Names the first that has none;
/// "" if all have. A declaration must have found its definition if there is but one. In structs of
/// the base, what that only declares agrees with any definition; in any struct, so do enums that an
/// object may have there with no more than the declaration.
std::string first_lost(const Btf &object, const Btf &merged, const Known &known);

/// How many types are left if all are one that agree in everything that they reach. With forward
/// declarations there may be less: these are taken for types of their own.
size_t fewest_types(const std::vector<const Btf *> &objects);

} // namespace btflink::merge::test
