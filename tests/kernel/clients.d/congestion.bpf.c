// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A TCP congestion control by struct_ops: libbpf and the kernel find its functions by BTF.
#include "tests/kernel/boot/bpf_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
    int unused_here;
};

struct tcp_sock {
    __u32 snd_cwnd;
};

struct tcp_congestion_ops {
    __u32 (*ssthresh)(struct sock *sk);
    void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
    __u32 (*undo_cwnd)(struct sock *sk);
    char name[16];
};

#pragma clang attribute pop

SEC("struct_ops")
__u32 BPF_PROG(window, struct sock *sk)
{
    return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
__u32 BPF_PROG(window_before, struct sock *sk)
{
    return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(acknowledged, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC(".struct_ops")
struct tcp_congestion_ops congestion = {
    .ssthresh = (void *)window,
    .cong_avoid = (void *)acknowledged,
    .undo_cwnd = (void *)window_before,
    .name = "btflink",
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
