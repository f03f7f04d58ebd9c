// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The layout section of BTF, which kernels from 7.1 on ask for.
#pragma once

#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

/// A note if the BTF of vmlinux has one: kernels need none, and older Go programs refuse it.
void note_layout(const Binary &vmlinux, Findings &out);

} // namespace btflink::kernel
