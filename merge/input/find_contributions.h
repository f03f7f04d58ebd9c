// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the contributions in the inputs: the position of each object's BTF, and its relocations and
// address pool.
#pragma once

#include "common/object_btf/contributions.h"
#include "merge/input/open.h"
#include "merge/input/pools.h"

#include <deque>
#include <span>
#include <vector>

namespace btflink::merge
{

/// One object's part of an input, before it is parsed.
struct InputPart {
    uint32_t input; // index into Inputs::list
    Where where;    // of the blob
    Contribution bytes;
    bool has_relocs = false;       // the section has relocations
    std::span<const Reloc> relocs; // those of the blob, by offset in the section
    std::vector<Place> pool;       // by entry; empty: the input has no pool for the object
};

/// All objects of one input, and what they point into.
struct InputParts {
    std::vector<InputPart> list;
    std::vector<SectionContents> contents;
    std::deque<std::vector<Reloc>> relocs;
};

/// By input. Error: the first one in link order.
Result<std::vector<InputParts>> find_contributions(const std::vector<Input> &inputs,
                                                   unsigned threads);

} // namespace btflink::merge
