// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel check --against: how and why the BTF of two builds differs.
#pragma once

#include "btf-kernel/check/findings.h"
#include "btf-kernel/package/kernel.h"

#include <string>
#include <vector>

namespace btflink::kernel
{

/// Adds findings of rule `against`: of vmlinux, then of modules by path. Modules that differ only
/// because vmlinux differs are counted in a note. The number of threads does not change the result.
void compare_builds(const Kernel &here, const Kernel &there, unsigned threads, Findings &out);

/// Differences between two builds by their banners and configurations.
struct BuildDifferences {
    std::vector<std::string> causes;   // may change BTF: compiler, configuration
    std::vector<std::string> harmless; // do not change BTF: user, time
};
BuildDifferences compare_facts(const Kernel &here, const Kernel &there);

} // namespace btflink::kernel
