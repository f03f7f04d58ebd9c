// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the bytes of an index.
#pragma once

#include "common/btf/btf.h"
#include "common/io/bytes.h"

#include <vector>

namespace btflink::merge
{

/// An index of `base`, parsed from `blob`. Error: a plain type refers to a FUNC, VAR or DATASEC.
Result<std::vector<std::byte>> make_index(const Btf &base, Bytes blob, const Where &where);

} // namespace btflink::merge
