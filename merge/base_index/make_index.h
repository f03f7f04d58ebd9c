// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the bytes of an index.
#pragma once

#include "common/btf/btf.h"
#include "common/io/bytes.h"

#include <vector>

namespace btflink::merge
{

/// An index of `base`, parsed from `blob`. For BTF for which an index could give other answers than
/// a search, it contains only this fact (FORMAT.md, "BTF without an index").
std::vector<std::byte> make_index(const Btf &base, Bytes blob);

} // namespace btflink::merge
