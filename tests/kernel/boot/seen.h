// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The results that each BPF program passes to init.cc, process 1 of the booted machine. Every
// program has one global variable, `seen`, of its own type below. init reads and writes it as the
// only value of the program's .bss map. For C and C++.
#pragma once

enum {
    comm_size = 16,  // size of task_struct.comm, with the terminating NUL
    node_size = 65,  // size of new_utsname.nodename, with the terminating NUL
    model_size = 64, // size of cpuinfo_x86.x86_model_id
    cpus = 2,        // number of CPUs that boot.py gives the machine
};

struct CoreSeen {
    char comm[comm_size];
    char unrelocated[comm_size]; // the bytes at the offset of comm in the program's own definition
    char node[node_size];
    int pid;
    int tgid;
    int parent_tgid;
    int reset_on_fork;      // a bit field
    int pid_types;          // value of an enumerator
    int has_absent_field;   // 1 if a field exists that no kernel has
    unsigned int task_size; // bytes
};

struct FentrySeen {
    int wanted_pid; // set by init: events of other processes are ignored
    int calls;
    int pid;
    int parent_tgid;
    int exec;
    char name[comm_size]; // argument
};

struct FexitSeen {
    int calls;
    unsigned long long arguments[5];
    int result;
};

struct TrampolineSeen {
    int calls;
    unsigned argument_count; // of the function to which the program is attached
    unsigned char argument_sizes[5];
    unsigned int flags;
    unsigned long long links;
    unsigned long long function;
};

struct GuestSeen {
    int calls;
    int pid; // of the process that made the guest
    unsigned long long context;
};

struct ModuleSeen {
    int wanted_index; // set by init: events of other devices are ignored
    int calls;
    int index;
    unsigned int mtu;
    char name[comm_size]; // IFNAMSIZ is the same
};

struct PeerSeen {
    int wanted_index; // set by init: events of other devices are ignored
    int calls;
    int index;
    int peer_index; // of the device at the other end
};

struct KfuncSeen {
    int wanted_pid; // set by init
    int found;
    int pid;
    int parent_tgid;
    char comm[comm_size];
};

/// Results of the kernel's test functions that 6.1 has and 6.12 does not.
struct TestKfuncSeen {
    int found;
    int a;
    int b;
};

struct PercpuSeen {
    int queue_cpu[cpus];
    unsigned long long queue_address[cpus];
    unsigned long long offset[cpus]; // of the CPU's area, from any origin that all CPUs share
    unsigned int family[cpus];       // x86
    char model[model_size];
    unsigned long long midr[cpus];  // arm64: identification of the CPU
    unsigned long long scale[cpus]; // speed of the CPU, at most 1024
    unsigned long long current_of_queue;
    unsigned long long current_task;
};
