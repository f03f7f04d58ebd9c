// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// When a type of a BPF program and one of a kernel are the same, by the two rules that libbpf has.
#pragma once

#include "common/btf/btf.h"

namespace btflink::kernel::bpf
{

/// By bpf_core_types_are_compat(), which bpf_core_type_exists() asks, and which kfuncs and
/// variables must obey: shapes are alike; what a struct has inside does not count. Names have been
/// compared.
bool types_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                          uint32_t target);

/// By bpf_core_types_match(), which bpf_core_type_matches() asks: each member, value and parameter
/// of the program's type is there.
bool types_match(const Btf &local_btf, uint32_t local, const Btf &target_btf, uint32_t target);

} // namespace btflink::kernel::bpf
