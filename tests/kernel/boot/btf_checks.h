// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks the BTF that the running kernel and its modules export, and the kernel's log. Loads
// modules.
#pragma once

#include "tests/kernel/boot/outcome.h"

namespace btflink::boot
{

/// /sys/kernel/btf/vmlinux can be read, and has struct task_struct, functions and variables.
Outcome vmlinux_btf();

/// Each function of the kernel's BTF has a symbol in /proc/kallsyms, perhaps with a suffix such as
/// .isra.0. For a kfunc's NAME_impl, the symbol NAME is enough.
Outcome functions_exist();

/// Each variable in the DATASEC .data..percpu of the kernel's BTF has the offset that a symbol of
/// its name in /proc/kallsyms has from __per_cpu_start.
Outcome variables_in_place();

/// The module can be loaded. It stays loaded. `path` is its .ko file.
Outcome load_module(const std::string &path);

/// The BTF of the loaded module `name`, /sys/kernel/btf/NAME, is split BTF over the kernel's BTF.
/// Some of its functions are in /proc/kallsyms and take pointers to structs or unions of the
/// kernel.
Outcome split_btf(const std::string &name);

/// The kernel's log so far has no warning, bug, oops or call trace, and no line with "BTF" or
/// "BPF:".
Outcome quiet_log();

} // namespace btflink::boot
