// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The kernel's rules for a blob as a whole; and which of the newer forms of BTF a kernel reads.
#pragma once

#include "common/btf/btf.h"

namespace btflink
{

/// What a kernel reads that older ones refuse. A kernel says so itself, by types of its own:
/// nothing in a blob of the newer form tells that it is one.
struct KernelForms {
    uint32_t vlen = btf::max_vlen; // the most: the kernel's enumerator BTF_MAX_VLEN
    // A layout section in the blob: a kernel that reads it has a struct btf_layout, one that does
    // not has a struct btf_header alone. No value: neither is there, so this is of no kernel.
    std::optional<bool> layout;
};

/// Those of the kernel that `btf` is of, or is split over; of all kernels if it shows none.
KernelForms find_kernel_forms(const Btf &btf);

/// The first violation; the parameters are those of check_btf().
Result<void> check_btf_header(Bytes blob, const Btf &btf, const Where &where);

} // namespace btflink
