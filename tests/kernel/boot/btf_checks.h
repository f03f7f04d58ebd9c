// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks the BTF that the running kernel exports, and its messages about BTF.
#pragma once

#include "tests/kernel/boot/outcome.h"

namespace btflink::boot
{

/// /sys/kernel/btf/vmlinux can be read and has types, functions and per-CPU variables.
Outcome vmlinux_btf();

/// Each function of the kernel's BTF is in /proc/kallsyms.
Outcome functions_exist();

/// Each per-CPU variable of the kernel's BTF has the address that /proc/kallsyms shows.
Outcome variables_in_place();

/// The module can be loaded. It stays loaded. `path` is its .ko file.
Outcome load_module(const std::string &path);

/// /sys/kernel/btf/NAME is split BTF over the kernel's BTF, and has functions of the module whose
/// arguments point to types of the kernel.
Outcome split_btf(const std::string &name);

/// The kernel's log has no warning, oops or message about invalid BTF so far.
Outcome quiet_log();

} // namespace btflink::boot
