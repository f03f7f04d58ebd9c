// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks whether kernels accept a blob, by the rules of Linux 6.12 to 7.3 for BTF that is loaded
// (kernel/bpf/btf.c). These are stricter than the rules for a kernel's own BTF.
//
// Three rules are left out: the limit of 16 MB for a blob in a bpf() call; the depth of the
// resolver's stack (32), which depends on the order in which it visits types; and the rules for
// structs with locks, lists and reference counts of BPF programs.
#pragma once

#include "common/btf/btf.h"
#include "common/btf/kernel_forms.h"

#include <vector>

namespace btflink
{

/// Kernels accept INTs and bitfield loads of up to so many bits.
constexpr uint32_t max_int_bits = 128;

/// The end of an error's text if the violation is the name of a type or of one of its elements.
constexpr char illegal_name[] = "name is not an identifier";

/// The first violation: byte offset of the type or element; id, kind and name of the type; rule.
/// `blob`: exactly the bytes from which `btf` was parsed; `where` names their start.
/// `pointer_size`: the target's, in bytes. `kernel`: see kernel_forms(). The base of `btf` is not
/// checked.
Result<void> check_btf(Bytes blob, const Btf &btf, const Where &where, uint32_t pointer_size = 8,
                       std::optional<KernelVersion> kernel = std::nullopt);

/// Up to `most` violations, one per type, all from the first pass that finds any.
std::vector<Error> find_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t pointer_size, size_t most,
                                   std::optional<KernelVersion> kernel = std::nullopt);

/// Checks only the header and the sections of the blob.
Result<void> check_btf_header(Bytes blob, const Btf &btf, const Where &where,
                              std::optional<KernelVersion> kernel);

} // namespace btflink
