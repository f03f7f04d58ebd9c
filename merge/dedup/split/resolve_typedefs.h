// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Resolves typedefs that lead to forward declarations to typedefs that lead to definitions.
#pragma once

#include "merge/dedup/classes/class_graph.h"
#include "merge/dedup/split/resolve_forwards.h"

#include <unordered_map>

namespace btflink::merge
{

/// Each typedef that leads to some of the declarations becomes an alias, in `partition`, of one
/// with the same name and form that leads to definitions, if there is one. `keys` are replaced by
/// new keys without aliases. Returns, by declaration, the definition that a typedef showed.
std::unordered_map<ClassId, ClassId>
resolve_typedefs(const std::vector<UnresolvedForward> &forwards, const ClassGraph &graph,
                 RefKeys &keys, Partition &partition);

} // namespace btflink::merge
