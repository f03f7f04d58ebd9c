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

/// CO-RE relocations: fields of task_struct, a bit field, a field that no kernel has, a chain of
/// pointers through four structs, the value of an enumerator, the size of task_struct.
Outcome core();

/// Arguments at the entry of __set_task_comm, when the check renames its thread.
Outcome fentry();

/// Arguments and result at the exit of bpf_fentry_test5, which the kernel calls in a test run of
/// the program.
Outcome fexit();

/// True if the kernel's BTF has a FUNC with this name. In kernels that gcc compiles, the functions
/// of the next two checks have a FUNC only with the gcc plugin.
bool has_function(const char *name);

/// Arguments at the entry of arch_bpf_trampoline_size, when another program attaches to
/// bpf_fentry_test5.
Outcome fentry_trampoline();

/// Arguments at the entry of enter_vmid_context, when the memory of a KVM guest is write-protected.
Outcome fentry_guest();

/// The device that is passed to dummy_get_stats64, a function of the module dummy, when the
/// statistics of dummy0 are read.
Outcome fentry_module();

/// A field of veth_priv, a struct that only the module veth has, at the entry of the module's
/// function veth_get_stats64.
Outcome module_type();

/// Kernel functions called by a program: bpf_task_from_pid, or, before Linux 6.2, the kernel's test
/// kfuncs.
Outcome kfunc();

/// Per-CPU variables that a program declares with __ksym.
Outcome percpu();

} // namespace btflink::boot
