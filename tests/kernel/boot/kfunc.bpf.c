// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Calls kernel functions that are found by BTF and allowed by .BTF_ids, from Linux 6.10 on.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>

struct task_struct {
    char comm[comm_size];
    struct task_struct *real_parent;
    int tgid;
    int pid;
} __attribute__((preserve_access_index));

extern struct task_struct *bpf_task_from_pid(int pid) __ksym;
extern void bpf_task_release(struct task_struct *task) __ksym;

struct KfuncSeen seen;

SEC("syscall")
int find_task(void *context)
{
    struct task_struct *task = bpf_task_from_pid(seen.wanted_pid);
    if (!task)
        return 0;
    seen.found = 1;
    seen.pid = task->pid;
    bpf_probe_read_kernel_str(seen.comm, sizeof(seen.comm), task->comm);
    bpf_probe_read_kernel(&seen.parent_tgid, sizeof(seen.parent_tgid), &task->real_parent->tgid);
    bpf_task_release(task);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
