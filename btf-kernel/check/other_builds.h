// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Files that claim to be of one kernel and are not.
#pragma once

#include "btf-kernel/check/findings.h"

namespace btflink::kernel
{

/// Images of the same release that are of another build than vmlinux, and, if `found` says that
/// modules were made over another vmlinux, why: what release they state themselves.
void check_other_builds(const Kernel &kernel, const std::vector<Finding> &found, Findings &out);

} // namespace btflink::kernel
