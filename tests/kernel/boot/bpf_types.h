// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Defines the types that libbpf's <bpf/bpf_helpers.h> uses, so that BPF programs need no headers of
// a kernel.
#pragma once

typedef signed int __s32;
typedef signed long long __s64;
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
