/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A very small kernel: the old version, or with -DNEW the new one. */
#define KFUNC __attribute__((used, noinline))

enum state { RUNNING, SLEEPING,
#ifndef NEW
	     DEAD,
#endif
	     LAST };

struct inner { int first; int second; };
struct task {
	int pid;
#ifdef NEW
	long added;
#endif
	unsigned int flags;
#ifdef NEW
	unsigned long grown;
	long signed_grown;
	struct { int in_struct; } apart;
#else
	unsigned int grown;
	int signed_grown;
	int in_struct;
	int gone;
#endif
	struct inner in;
	unsigned int low : 3, high : 5;
	enum state state;
#ifdef NEW
	struct inner *number;
	int list[2];
#else
	int number;
	int list[4];
#endif
	union { int unnamed_a; long unnamed_b; };
	int tail[];
};
struct task init_task;

typedef void (*btf_trace_event)(void *, struct task *
#ifdef NEW
				, int
#endif
);
typedef void (*btf_trace_stays)(void *, struct task *);
btf_trace_event use_event;
btf_trace_stays use_stays;

struct ops {
	int (*select)(struct task *p);
#ifndef NEW
	int (*dropped)(struct task *p);
#endif
};
struct bpf_struct_ops_ops { int common; struct ops data; };
struct bpf_struct_ops_ops use_ops;

int KFUNC stays(struct task *p) { return p->pid; }
int KFUNC grows(struct task *p
#ifdef NEW
		, int more
#endif
) { return p->pid; }
#ifndef NEW
int KFUNC leaves(struct task *p) { return p->pid; }
#endif
int KFUNC bpf_lsm_hook(struct task *p) { return p->pid; }
int KFUNC bpf_iter_task(struct task *p) { return p->pid; }
int KFUNC kfunc_stays(struct task *p) { return p->pid; }
int KFUNC kfunc_changes(
#ifdef NEW
struct task *p
#else
struct task *p, int n
#endif
) { return p->pid; }
