// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pass: finds equal types in one object.
#pragma once

#include "common/object_btf/type_hash.h"

#include <string>
#include <vector>

namespace btflink::emit
{

struct UnitDedup {
    /// By old id: the lowest id of an equal type (its own if no earlier type is equal).
    std::vector<TypeId> representative;
    /// Struct and union names with several different definitions here.
    std::vector<std::string> ambiguous;
    bool any = false; // there are duplicates
};

/// `types`: from a builder, so that equal strings have the same offset. `hashes`: their stub
/// hashes, in id order.
UnitDedup find_duplicates(const Btf &types, const std::vector<Hash128> &hashes);

} // namespace btflink::emit
