// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Would a kernel take this BTF? Judges a whole blob by the rules that Linux 6.12 to 7.3 have for
// BTF that is loaded into them (kernel/bpf/btf.c), which are stricter than what they ask of their
// own.
//
// Two limits are left out, as they do not concern the meaning: 16 MB for the whole of a blob
// that is loaded by the bpf() call, and the depth of the resolver's stack (32), which depends on
// the order in which it happens to visit the types. So is what they ask of structs that hold locks,
// lists and reference counts of BPF programs.
#pragma once

#include "common/btf/btf.h"
#include "common/btf/kernel_forms.h"

#include <vector>

namespace btflink
{

/// The most bits that kernels accept of an INT, and that one load of a bitfield may span.
constexpr uint32_t max_int_bits = 128;

/// The first violation: byte offset of the type or element, id, kind and name of the type, rule.
/// `blob`: all bytes that `btf` was parsed from and no more; `where` names their start.
/// `pointer_size`: bytes, of the target. `kernel`: see kernel_forms(). The base of `btf` is taken
/// to be in order.
Result<void> check_btf(Bytes blob, const Btf &btf, const Where &where, uint32_t pointer_size = 8,
                       std::optional<KernelVersion> kernel = std::nullopt);

/// All violations of the first pass that finds any, one per type, `most` at most.
std::vector<Error> find_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t pointer_size, size_t most,
                                   std::optional<KernelVersion> kernel = std::nullopt);

} // namespace btflink
