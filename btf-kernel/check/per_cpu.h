// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Are per-CPU variables where BTF says?
#pragma once

#include "btf-kernel/check/findings.h"
#include "btf-kernel/package/kernel.h"

namespace btflink::kernel
{

/// Compare the DATASEC .data..percpu of `btf` itself with the symbols of `binary`, if it has any.
void check_per_cpu(const Binary &binary, const Btf &btf, Findings &out);

} // namespace btflink::kernel
