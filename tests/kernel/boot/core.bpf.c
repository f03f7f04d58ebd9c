// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// CO-RE: reads the current task with definitions that no kernel has. Order, offsets, sizes and
// values are wrong until libbpf corrects them with the kernel's BTF.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct new_utsname {
    char nodename[node_size];
};

struct uts_namespace {
    struct new_utsname name;
};

struct nsproxy {
    struct uts_namespace *uts_ns;
};

struct task_struct {
    char comm[comm_size];
    unsigned int sched_reset_on_fork : 1;
    struct nsproxy *nsproxy;
    struct task_struct *real_parent;
    int tgid;
    int pid;
    int btflink_absent_field;
};

#pragma clang attribute pop

enum pid_type {
    PIDTYPE_MAX = 99,
};

struct CoreSeen seen;

SEC("raw_tp")
int read_task(void *context)
{
    struct task_struct *task = (void *)bpf_get_current_task();
    BPF_CORE_READ_STR_INTO(&seen.comm, task, comm);
    bpf_probe_read_kernel(seen.unrelocated, sizeof(seen.unrelocated),
                          (char *)task + __builtin_offsetof(struct task_struct, comm));
    BPF_CORE_READ_STR_INTO(&seen.node, task, nsproxy, uts_ns, name.nodename);
    seen.pid = BPF_CORE_READ(task, pid);
    seen.tgid = BPF_CORE_READ(task, tgid);
    seen.parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
    seen.reset_on_fork = BPF_CORE_READ_BITFIELD_PROBED(task, sched_reset_on_fork);
    seen.pid_types = bpf_core_enum_value(enum pid_type, PIDTYPE_MAX);
    seen.has_absent_field = bpf_core_field_exists(task->btflink_absent_field);
    seen.task_size = bpf_core_type_size(struct task_struct);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
