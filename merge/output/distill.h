// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes split BTF that works with kernels other than the one it was made for.
#pragma once

#include "common/btf/btf.h"

#include <vector>

namespace btflink::merge
{

struct Distilled {
    std::vector<std::byte> base;  // for `.BTF.base`
    std::vector<std::byte> split; // extends it; for `.BTF`
};

/// `split` extends a base. Errors: it refers to nothing in that base, or to a VAR or DATASEC, which
/// a distilled base cannot have.
Result<Distilled> distil(const Btf &split, ByteOrder order, const Where &where);

} // namespace btflink::merge
