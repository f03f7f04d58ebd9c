// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that load and run BPF programs which need the BTF of the kernel or of a module. Each check
// must run in its own process (Report::check()), because some checks rename their thread, change
// its scheduling, or leave files open.
#pragma once

#include "tests/kernel/boot/outcome.h"

namespace btflink::boot
{

/// The host name that init sets, and that the CO-RE program must read.
inline constexpr const char *node_name = "btflink-boot";

/// Checks CO-RE relocations: fields of task_struct, a bit field, a field that no kernel has, a
/// chain of fields through four structs, the value of an enumerator, the size of task_struct.
Outcome core();

/// Checks the arguments that a program sees at the entry of __set_task_comm. The kernel calls this
/// function when the check renames its thread.
Outcome fentry();

/// Checks the arguments and the result that a program sees at the exit of bpf_fentry_test5. The
/// kernel calls this function in a test run of the program.
Outcome fexit();

/// True if the kernel's BTF has a FUNC with this name. In kernels that gcc compiles, the functions
/// of the next two checks have a FUNC only with the gcc plugin.
bool has_function(const char *name);

/// Checks the arguments that a program sees at the entry of arch_bpf_trampoline_size. The kernel
/// calls this function when another program attaches to bpf_fentry_test5.
Outcome fentry_trampoline();

/// Checks the arguments that a program sees at the entry of enter_vmid_context. KVM calls this
/// function when it write-protects the memory of a guest.
Outcome fentry_guest();

/// Checks the device that a program sees at the entry of dummy_get_stats64. The module dummy has
/// this function, and the kernel calls it when the check reads the statistics of dummy0.
Outcome fentry_module();

/// Checks a field of veth_priv, a struct that only the module veth has. A program reads the field
/// at the entry of the module's function veth_get_stats64.
Outcome module_type();

/// Checks kernel functions that a program calls: bpf_task_from_pid from Linux 6.10 on, the kernel's
/// test kfuncs in 6.1 to 6.4. Fails if the kernel's version cannot be told.
Outcome kfunc();
/// Does the kernel have functions that kfunc() can call? Also true if the version cannot be told,
/// so that kfunc() runs and fails.
bool knows_kfunc();

/// Checks per-CPU variables that a program declares with __ksym.
Outcome percpu();

} // namespace btflink::boot
