// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares types whose stub hashes are equal. Only test builds, whose hashes collide on purpose,
// need this.
#pragma once

#include "merge/dedup/type_space.h"

namespace btflink::merge
{

/// Do both types have the same words and names, and refer to equal types? Named structs and unions
/// and their forward declarations are equal if kind and name are; other types are compared
/// recursively.
bool stub_equal(const Sources &sources, TypeAt a, TypeAt b);

} // namespace btflink::merge
