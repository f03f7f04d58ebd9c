// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Equality that stub hashes stand for, decided by comparing types. Only test builds, whose hashes
// collide on purpose, need it.
#pragma once

#include "merge/dedup/type_space.h"

namespace btflink::merge
{

/// Do both types have the same words and names, references to named structs and unions (or forward
/// declarations) the same kind and name, and all other references targets that are so equal?
bool stub_equal(const Sources &sources, TypeAt a, TypeAt b);

} // namespace btflink::merge
