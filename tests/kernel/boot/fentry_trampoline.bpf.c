// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A program at the entry of a function that has BTF with the gcc plugin, but not with DWARF
// (docs/differences.md). The arguments are in the registers of the calling convention.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct btf_func_model {
    __u8 nr_args;
    __u8 arg_size[5];
} __attribute__((preserve_access_index));

struct TrampolineSeen seen;

SEC("fentry/arch_bpf_trampoline_size")
int BPF_PROG(trampoline_size, struct btf_func_model *model, __u32 flags, void *links, void *function)
{
    seen.calls++;
    seen.argument_count = model->nr_args;
    bpf_probe_read_kernel(seen.argument_sizes, sizeof(seen.argument_sizes), model->arg_size);
    seen.flags = flags;
    seen.links = (__u64)links;
    seen.function = (__u64)function;
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
