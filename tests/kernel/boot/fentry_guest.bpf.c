// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A program at the entry of KVM's enter_vmid_context. The function has BTF with the gcc plugin, but
// not with DWARF: arm64 has two functions of this name with different parameters, one of which is
// renamed after the compile.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct kvm_arch {
    int unused;
} __attribute__((preserve_access_index));

struct kvm_s2_mmu {
    struct kvm_arch *arch;
} __attribute__((preserve_access_index));

struct kvm {
    struct kvm_arch arch;
    int userspace_pid;
} __attribute__((preserve_access_index));

struct GuestSeen seen;

SEC("fentry/enter_vmid_context")
int BPF_PROG(enter_guest, struct kvm_s2_mmu *mmu, void *context)
{
    // container_of(mmu->arch, struct kvm, arch)
    const char *guest = (const char *)mmu->arch - bpf_core_field_offset(struct kvm, arch);
    seen.calls++;
    bpf_probe_read_kernel(&seen.pid, sizeof(seen.pid),
                          guest + bpf_core_field_offset(struct kvm, userspace_pid));
    seen.context = (__u64)context;
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
