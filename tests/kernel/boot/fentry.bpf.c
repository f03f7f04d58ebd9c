// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A program at the entry of a kernel function. The verifier knows the arguments' types from BTF, so
// the program reads fields through pointers without a helper.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct task_struct {
    struct task_struct *real_parent;
    int tgid;
    int pid;
} __attribute__((preserve_access_index));

struct FentrySeen seen;

SEC("fentry/__set_task_comm")
int BPF_PROG(set_task_comm, struct task_struct *task, const char *name, _Bool exec)
{
    if (task->pid != seen.wanted_pid)
        return 0;
    seen.calls++;
    seen.pid = task->pid;
    seen.parent_tgid = task->real_parent->tgid;
    seen.exec = exec;
    bpf_probe_read_kernel_str(seen.name, sizeof(seen.name), name);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
