// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel check --against: how does the BTF of two builds differ, and why?
#pragma once

#include "btf-kernel/check/findings.h"
#include "btf-kernel/package/kernel.h"

namespace btflink::kernel
{

/// Adds findings of rule `against`: of vmlinux, then of modules by path. Modules that differ only
/// because vmlinux differs are counted in a note. The number of threads does not change the result.
void compare_builds(const Kernel &here, const Kernel &there, unsigned threads, Findings &out);

} // namespace btflink::kernel
