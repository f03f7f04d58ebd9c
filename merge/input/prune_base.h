// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Of a base, what the objects over it can have to do with.
#pragma once

#include "merge/input/load_objects.h"

#include <vector>

namespace btflink::merge
{

struct BasePart {
    /// By id - 1. Of all others: no type, function or tag of the objects is equal to it, and no
    /// declaration can stand for it.
    Selection wanted;
    /// Offsets of the base's strings that the objects may have, too.
    std::vector<uint32_t> strings;
};

BasePart make_base_part(const Btf &base, const std::vector<Object> &objects);

} // namespace btflink::merge
