// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes split BTF that can be used over other kernels than the one it was made for.
#pragma once

#include "common/btf/btf.h"

#include <vector>

namespace btflink::merge
{

struct Distilled {
    std::vector<std::byte> base;  // for `.BTF.base`
    std::vector<std::byte> split; // continues it; for `.BTF`
};

/// `split` continues a base. Errors: it refers to nothing of that base, or to something that a
/// distilled base cannot have (a VAR, DATASEC or DECL_TAG); more types than the format can count.
Result<Distilled> distil(const Btf &split, ByteOrder order, const Where &where);

} // namespace btflink::merge
