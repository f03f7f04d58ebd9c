// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the bytes of an index.
#pragma once

#include "common/btf/btf.h"
#include "common/io/bytes.h"

#include <vector>

namespace btflink::merge
{

/// An index of `base`, which is what `blob` holds. Where answers by an index could differ from
/// those of a search, it is one that only says so: for split BTF, BTF of another byte order, with
/// strings twice or names that are parts of others, with types that no compiler of C makes.
std::vector<std::byte> make_index(const Btf &base, Bytes blob);

} // namespace btflink::merge
