// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pairs the definitions of each name on both sides, in vmlinux or in one module.
#pragma once

#include "btf-kernel/diff/compare.h"

#include <tuple>
#include <vector>

namespace btflink::kernel::diff
{

/// A definition that changed, or that only one side has.
struct Delta {
    const Side *old_side, *new_side;
    const Definition *before, *after; // null if that side has no definition
    uint32_t place;                   // as Change::places
    bool one_of_several;              // the other side has other definitions of the name

    const Definition &any() const { return before ? *before : *after; }
    /// Equal for deltas of several places that form one change.
    auto identity() const
    {
        return std::tuple(any().key, before ? before->shape : 0, after ? after->shape : 0,
                          before != nullptr, after != nullptr);
    }
};

/// By name. The sides must have this place and outlive the result. A definition that is missing in
/// a module may have moved into vmlinux, and is compared with that one.
std::vector<Delta> match_names(const Sides &before, const Sides &after, uint32_t place);

} // namespace btflink::kernel::diff
