// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks the result of a merge against its inputs, slowly and in a simple way.
#pragma once

#include "common/btf/btf.h"

#include <set>
#include <string>
#include <vector>

namespace btflink::merge::test
{

/// Facts about all objects of a program.
struct Known {
    std::set<std::string> declared_enums; // enums that some object only declares
    std::set<std::string> defined_by_one; // structs and unions that exactly one object defines, and
                                          // that the base does not define
};
Known known_to(const std::vector<Btf> &objects, const Btf *base = nullptr);

/// Checks that each type of `object` has a type in `merged` with the same meaning. Returns a
/// description of the first type without one, or "". A declaration must be resolved if there is
/// only one definition. In structs of the base, a declaration agrees with any definition. In any
/// struct, enums that some object only declares agree with their declaration.
std::string first_lost(const Btf &object, const Btf &merged, const Known &known);

/// The number of types after merging all types that agree in everything that they reach. A merge
/// can have fewer if there are forward declarations, which count as separate types here.
size_t fewest_types(const std::vector<const Btf *> &objects);

} // namespace btflink::merge::test
