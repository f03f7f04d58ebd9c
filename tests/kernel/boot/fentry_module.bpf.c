// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A program at the entry of a function of the module dummy. The function is in the module's split
// BTF. The type of its argument is in the kernel's BTF.
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct net_device {
    unsigned int mtu;
    int ifindex;
    char name[comm_size];
} __attribute__((preserve_access_index));

struct rtnl_link_stats64;

struct ModuleSeen seen;

SEC("fentry/dummy_get_stats64")
int BPF_PROG(get_stats, struct net_device *device, struct rtnl_link_stats64 *stats)
{
    if (device->ifindex != seen.wanted_index)
        return 0;
    seen.calls++;
    seen.index = device->ifindex;
    seen.mtu = device->mtu;
    bpf_probe_read_kernel_str(seen.name, sizeof(seen.name), device->name);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
