// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel check --against: do two builds of one kernel have the same BTF, and if not, why?
#pragma once

#include "btf-kernel/check/findings.h"
#include "btf-kernel/package/kernel.h"

namespace btflink::kernel
{

/// Findings of rule `against`: of vmlinux, then of modules by path. What differs in a module only
/// because vmlinux differs is no finding, but counted in a note. `threads`: do not matter.
void compare_builds(const Kernel &here, const Kernel &there, unsigned threads, Findings &out);

} // namespace btflink::kernel
