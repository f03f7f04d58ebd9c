// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A program at the exit of a kernel function. The kernel takes the number of arguments from BTF;
// the position of the result depends on this number. A test run of the program makes the kernel
// call this function.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct FexitSeen seen;

SEC("fexit/bpf_fentry_test5")
int BPF_PROG(fentry_test, __u64 a, void *b, short c, int d, __u64 e, int result)
{
    seen.calls++;
    seen.arguments[0] = a;
    seen.arguments[1] = (__u64)b;
    seen.arguments[2] = c;
    seen.arguments[3] = d;
    seen.arguments[4] = e;
    seen.result = result;
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
