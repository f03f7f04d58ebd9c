// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks the result of a merge against its inputs, slowly and in a simple way.
#pragma once

#include "common/btf/btf.h"

#include <set>
#include <string>
#include <vector>

namespace btflink::merge::test
{

/// Facts about all objects of a merge and its base.
struct Known {
    std::set<std::string> declared_enums; // names of enums that an object or the base only declares
    std::set<std::string> defined_by_one; // "struct NAME" or "union NAME": one object defines it,
                                          // once; the other objects and the base do not
};
/// `objects`: all objects of the merge; `base`: its base, or nullptr.
Known known_to(const std::vector<Btf> &objects, const Btf *base = nullptr);

/// Checks that each type of `object` has a type with the same meaning in `merged` or its base.
/// Returns a description of the first type of `object` that has none, or "". Does not compare the
/// names of members, parameters and enumerators.
///
/// A declaration of a struct or union in `object` agrees with each definition of its name. It
/// agrees with another declaration only if `known.defined_by_one` does not contain the name, or
/// inside a struct of the base. An enum that `object` only declares agrees with each enum of its
/// name. Inside structs of the base, a declaration of the base agrees with each definition of its
/// name in `object`. Inside any struct, enums of one name agree if `known.declared_enums` has it.
/// Inside a struct or union is every type that is reached through it.
std::string first_lost(const Btf &object, const Btf &merged, const Known &known);

/// The number of types if all equal types are merged, and no others. Here a forward declaration
/// equals no definition, so a merge of objects with forward declarations can leave fewer types.
size_t fewest_types(const std::vector<const Btf *> &objects);

} // namespace btflink::merge::test
