// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads per-CPU variables of the kernel, which libbpf finds by the VARs in BTF. All but runqueues
// exist on only one of x86 and arm64, so they are weak.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct;

struct rq {
    struct task_struct *curr;
    int cpu;
};

struct cpuinfo_x86 {
    char x86_model_id[model_size];
    __u8 x86;
};

struct cpuinfo_arm64 {
    __u64 reg_midr;
};

#pragma clang attribute pop

extern const struct rq runqueues __ksym;
extern const struct cpuinfo_x86 cpu_info __ksym __weak;
extern const unsigned long this_cpu_off __ksym __weak;
extern const struct cpuinfo_arm64 cpu_data __ksym __weak;
extern const unsigned long cpu_scale __ksym __weak;

struct PercpuSeen seen;

static __always_inline void read_x86(int cpu)
{
    const unsigned long *offset = bpf_per_cpu_ptr(&this_cpu_off, cpu);
    if (offset)
        seen.offset[cpu] = *offset;
    const struct cpuinfo_x86 *info = bpf_per_cpu_ptr(&cpu_info, cpu);
    if (info)
        seen.family[cpu] = info->x86;
}

static __always_inline void read_arm64(int cpu)
{
    const unsigned long *scale = bpf_per_cpu_ptr(&cpu_scale, cpu);
    if (scale)
        seen.scale[cpu] = *scale;
    const struct cpuinfo_arm64 *info = bpf_per_cpu_ptr(&cpu_data, cpu);
    if (info) {
        seen.midr[cpu] = info->reg_midr;
        seen.offset[cpu] = (__u64)info;
    }
}

SEC("raw_tp")
int read_variables(void *context)
{
#pragma unroll
    for (int cpu = 0; cpu < cpus; cpu++) {
        const struct rq *queue = bpf_per_cpu_ptr(&runqueues, cpu);
        if (queue) {
            seen.queue_cpu[cpu] = queue->cpu;
            seen.queue_address[cpu] = (__u64)queue;
        }
        if (&this_cpu_off && &cpu_info)
            read_x86(cpu);
        if (&cpu_scale && &cpu_data)
            read_arm64(cpu);
    }
    if (&cpu_info) {
        const struct cpuinfo_x86 *here = bpf_this_cpu_ptr(&cpu_info);
        bpf_probe_read_kernel_str(seen.model, sizeof(seen.model), here->x86_model_id);
    }
    const struct rq *queue = bpf_this_cpu_ptr(&runqueues);
    seen.current_of_queue = (__u64)queue->curr;
    seen.current_task = bpf_get_current_task();
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
