// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// libbpf's two rules for comparing a type of a BPF program with a type of a kernel.
#pragma once

#include "common/btf/btf.h"

namespace btflink::kernel::bpf
{

/// bpf_core_types_are_compat(), for bpf_core_type_exists(), kfuncs and variables: kinds must match;
/// names and the contents of structs are not compared.
bool types_are_compatible(const Btf &local_btf, uint32_t local, const Btf &target_btf,
                          uint32_t target);

/// bpf_core_types_match(), for bpf_core_type_matches(): the kernel's type must have each member,
/// value and parameter of the program's type.
bool types_match(const Btf &local_btf, uint32_t local, const Btf &target_btf, uint32_t target);

} // namespace btflink::kernel::bpf
