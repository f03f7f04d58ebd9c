// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the types and strings of a base that the objects may share.
#pragma once

#include "merge/input/load_objects.h"

#include <vector>

namespace btflink::merge
{

struct BasePart {
    /// By id - 1: the types of the base that may equal types, functions or tags of the objects, or
    /// that declarations in the objects may stand for.
    Selection wanted;
    /// Offsets of the base's strings that the objects may also have.
    std::vector<uint32_t> strings;
};

BasePart make_base_part(const Btf &base, const std::vector<Object> &objects);

} // namespace btflink::merge
