// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A scheduler of sched_ext that leaves all decisions to the kernel, and counts how often tasks start
// to run.
#include "tests/kernel/boot/bpf_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
    int pid;
};

struct sched_ext_ops {
    void (*running)(struct task_struct *task);
    char name[128];
};

#pragma clang attribute pop

long started;

SEC("struct_ops")
void BPF_PROG(running, struct task_struct *task)
{
    if (task->pid)
        __sync_fetch_and_add(&started, 1);
}

SEC(".struct_ops.link")
struct sched_ext_ops scheduler = {
    .running = (void *)running,
    .name = "btflink",
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
