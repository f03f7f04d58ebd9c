// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// CO-RE with a type that only the module veth has: libbpf finds it in the module's split BTF. The
// structure follows the device's structure in memory, as in the kernel's netdev_priv().
#include "tests/kernel/boot/bpf_types.h"
#include "tests/kernel/boot/seen.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct net_device {
    int ifindex;
};

struct veth_priv {
    unsigned int requested_headroom;
    struct net_device *peer;
};

#pragma clang attribute pop

struct rtnl_link_stats64;

struct PeerSeen seen;

SEC("fentry/veth_get_stats64")
int BPF_PROG(get_stats, struct net_device *device, struct rtnl_link_stats64 *stats)
{
    if (device->ifindex != seen.wanted_index)
        return 0;
    const __u64 alignment = 32; // NETDEV_ALIGN
    const __u64 size = (bpf_core_type_size(struct net_device) + alignment - 1) & -alignment;
    const struct veth_priv *private = (void *)device + size;
    seen.calls++;
    seen.index = device->ifindex;
    seen.peer_index = BPF_CORE_READ(private, peer, ifindex);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
