// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks that load and run BPF programs which need the kernel's BTF. Each must run in a process of
// its own, because it may rename its thread, change its scheduling, or leave files open.
#pragma once

#include "tests/kernel/boot/outcome.h"

namespace btflink::boot
{

/// Name of the machine, set by init, that the CO-RE program must find.
inline constexpr const char *node_name = "btflink-boot";

/// Relocated accesses to task_struct: fields, a bit field, a chain over four structures, an
/// enumerator, an absent field, a size.
Outcome core();

/// Arguments at the entry of __set_task_comm, when this thread is renamed.
Outcome fentry();

/// Arguments and result at the exit of bpf_fentry_test5.
Outcome fexit();

/// True if there is a FUNC with this name. The functions of the next two checks have one only if
/// the kernel was built with the gcc plugin.
bool has_function(const char *name);

/// Arguments at the entry of arch_bpf_trampoline_size, when another program attaches to
/// bpf_fentry_test5.
Outcome fentry_trampoline();

/// Arguments at the entry of enter_vmid_context, when the memory of a KVM guest is write-protected.
Outcome fentry_guest();

/// Argument at the entry of the module dummy's dummy_get_stats64, when statistics are read.
Outcome fentry_module();

/// A field of the module veth's own struct veth_priv, at the entry of its veth_get_stats64.
Outcome module_type();

/// Kernel functions called by a program: bpf_task_from_pid, or, before Linux 6.2, the kernel's test
/// kfuncs.
Outcome kfunc();

/// Per-CPU variables through __ksym.
Outcome percpu();

} // namespace btflink::boot
