// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Calls kernel functions that are found by BTF and allowed by .BTF_ids: kfuncs that the kernel has
// for its own tests. Linux 6.1 to 6.4 allows these calls. One of these kfuncs returns a structure
// with known numbers.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>

struct prog_test_ref_kfunc {
    int b;
    int a;
} __attribute__((preserve_access_index));

extern struct prog_test_ref_kfunc *bpf_kfunc_call_test_acquire(unsigned long *scalar) __ksym;
extern void bpf_kfunc_call_test_release(struct prog_test_ref_kfunc *object) __ksym;

struct TestKfuncSeen seen;

SEC("syscall")
int take_object(void *context)
{
    unsigned long scalar = 0;
    struct prog_test_ref_kfunc *object = bpf_kfunc_call_test_acquire(&scalar);
    if (!object)
        return 0;
    seen.found = 1;
    seen.a = object->a;
    seen.b = object->b;
    bpf_kfunc_call_test_release(object);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
