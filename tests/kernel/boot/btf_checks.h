// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks of the BTF that the running kernel shows, and of what it says about it.
#pragma once

#include "tests/kernel/boot/outcome.h"

namespace btflink::boot
{

/// /sys/kernel/btf/vmlinux can be read and has types, functions and per-CPU variables.
Outcome vmlinux_btf();

/// Each function of the kernel's BTF is one of /proc/kallsyms.
Outcome functions_exist();

/// Each per-CPU variable of the kernel's BTF is where /proc/kallsyms has it.
Outcome variables_in_place();

/// The module is loaded; it stays so. `path` is that of the .ko file.
Outcome load_module(const std::string &path);

/// /sys/kernel/btf/NAME is split BTF over the kernel's, and has functions of the loaded module
/// whose arguments point to types of the kernel.
Outcome split_btf(const std::string &name);

/// No warning, oops or complaint about BTF in the kernel's log up to now.
Outcome quiet_log();

} // namespace btflink::boot
