// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the result's BTF: final classes, functions and variables.
#pragma once

#include "common/btf/btf.h"
#include "merge/base_index/base_index.h"
#include "merge/dedup/dedup.h"
#include "merge/link/select.h"

#include <future>
#include <vector>

namespace btflink::merge
{

/// Returns BTF in byte order `order` that extends the base of `sources`, if there is one. `index`:
/// finds strings and types in the base; null: none are shared. `second_thread`: how to run what
/// only saves time.
Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const BaseIndex *index, ByteOrder order,
                                           const Where &where, std::launch second_thread);

// distill.cc: makes split BTF that works with kernels other than the one it was made for.

struct DistilledBtf {
    std::vector<std::byte> base;  // for `.BTF.base`
    std::vector<std::byte> split; // extends it; for `.BTF`
};

/// `split` extends a base. Errors: it refers to nothing in that base, or to a VAR or DATASEC, which
/// a distilled base cannot have.
Result<DistilledBtf> distil(const Btf &split, ByteOrder order, const Where &where);

} // namespace btflink::merge
