// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The data that BPF programs (C) exchange with boot-init (C++), process 1 of the booted machine.
// Each program has one global variable, `seen`, whose type is one of the structs below. boot-init
// reads and writes `seen` as the only value of the program's map .bss.
#pragma once

enum {
    comm_size = 16,  // size of task_struct.comm, with the terminating NUL
    node_size = 65,  // size of new_utsname.nodename, with the terminating NUL
    model_size = 64, // size of cpuinfo_x86.x86_model_id
    cpus = 2,        // number of CPUs that boot.py gives the machine
};

struct CoreSeen {
    char comm[comm_size];
    char unrelocated[comm_size]; // the bytes at the offset of comm in core.bpf.c's task_struct
    char node[node_size];
    int pid;
    int tgid;
    int parent_tgid;
    int reset_on_fork;      // value of a bit field
    int pid_types;          // value of PIDTYPE_MAX
    int has_absent_field;   // 1 if a field exists that no kernel has
    unsigned int task_size; // bytes
};

struct FentrySeen {
    int wanted_pid; // thread id, set by boot-init: calls for other threads are ignored
    int calls;
    int pid;
    int parent_tgid;
    int exec;
    char name[comm_size]; // the new name, an argument
};

struct FexitSeen {
    int calls;
    unsigned long long arguments[5];
    int result;
};

struct TrampolineSeen {
    int calls;
    unsigned argument_count; // of the function for which the kernel makes a trampoline
    unsigned char argument_sizes[5];
    unsigned int flags;
    unsigned long long links;
    unsigned long long function;
};

struct GuestSeen {
    int calls;
    int pid; // thread id of the guest's maker
    unsigned long long context;
};

struct ModuleSeen {
    int wanted_index; // set by boot-init: calls for other devices are ignored
    int calls;
    int index;
    unsigned int mtu;
    char name[comm_size]; // comm_size is also IFNAMSIZ, the size of net_device.name
};

struct PeerSeen {
    int wanted_index; // set by boot-init: calls for other devices are ignored
    int calls;
    int index;
    int peer_index; // of the device at the other end
};

struct KfuncSeen {
    int wanted_pid; // set by boot-init: the process to find
    int found;
    int pid;
    int parent_tgid;
    char comm[comm_size];
};

/// What a program reads from an object that one of the kernel's test kfuncs returns. Linux 6.1 has
/// these kfuncs, 6.12 does not.
struct TestKfuncSeen {
    int found; // 1 if the kfunc returned an object
    int a;
    int b;
};

struct PercpuSeen {
    int queue_cpu[cpus];
    unsigned long long queue_address[cpus];
    unsigned long long offset[cpus]; // of the CPU's area, from any origin that all CPUs share
    unsigned int family[cpus];       // x86: "cpu family" of /proc/cpuinfo
    char model[model_size];          // x86: "model name"
    unsigned long long midr[cpus];   // arm64: identification of the CPU
    unsigned long long scale[cpus];  // arm64: speed of the CPU, at most 1024
    unsigned long long current_of_queue;
    unsigned long long current_task;
};
