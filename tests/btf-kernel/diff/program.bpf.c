/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program for the old version of kernel.c, with each kind of CO-RE relocation except those for signs and shifts. */
#define SEC(name) __attribute__((section(name), used))
#define CORE __attribute__((preserve_access_index))
#define EXISTS 2
#define SIZE 1

enum state { RUNNING, SLEEPING, DEAD, LAST };
struct inner { int first; int second; } CORE;
struct task {
	int pid;
	unsigned int flags;
	unsigned int grown;
	int signed_grown;
	int in_struct;
	int gone;
	struct inner in;
	unsigned int low : 3, high : 5;
	enum state state;
	int number;
	int list[4];
	union { int unnamed_a; long unnamed_b; };
	int tail[];
} CORE;
/* Flavours: other definitions of the same struct. */
struct task___old { int gone; } CORE;
struct task___new { long added; } CORE;
struct nowhere { int x; } CORE;
struct ops { int (*select)(struct task *p); int (*dropped)(struct task *p); };
struct inner___match { int second; };
struct inner___other { long second; };

extern int kfunc_stays(struct task *p) SEC(".ksyms");
extern int kfunc_changes(struct task *p, int n) SEC(".ksyms");
extern int kfunc_flavoured___v2(struct task *p) __attribute__((weak)) SEC(".ksyms");
extern int kfunc_stays___v1(struct task *p) SEC(".ksyms");

SEC(".struct_ops") struct ops my_ops;
SEC("?.struct_ops.link") struct ops optional_ops;

SEC("fentry/stays") int on_stays(struct task *p)
{
	return p->pid + (int)p->flags + p->in.second + (int)p->grown + p->list[1] + p->tail[3] +
	       (int)p->unnamed_b + (int)p->high;
}
SEC("fexit/grows") int on_grows(struct task *p) { return p->signed_grown; }
SEC("fentry.s/leaves") int on_leaves(struct task *p) { return p->gone + p->number + p->list[3]; }
SEC("lsm/hook") int on_hook(struct task *p) { return p->in_struct; }
SEC("lsm/no_hook") int on_no_hook(void *p) { return 0; }
SEC("iter/task") int on_iter(void *p) { return kfunc_stays(p) + kfunc_stays___v1(p); }
SEC("tp_btf/event") int on_event(void *p) { return kfunc_changes(p, 1); }
SEC("raw_tp/stays") int on_raw(void *p) { return kfunc_flavoured___v2 ? kfunc_flavoured___v2(p) : 0; }
SEC("raw_tp/event") int on_raw_event(void *p) { return 0; }
SEC("tp/any/event") int on_tp(void *p) { return 0; }
SEC("kprobe/grows") int on_kprobe_grows(void *p) { return 0; }
SEC("kprobe.multi/grows") int on_kprobes_grow(void *p) { return 0; }
SEC("kprobe/leaves") int on_kprobe(void *p) { return 0; }
SEC("kprobe/unknown") int on_unknown(void *p) { return 0; }
SEC("?fentry/stays") int not_loaded(void *p) { return 0; }

SEC("fentry/kfunc_stays") int asks(struct task___old *o)
{
	struct task___new *n = (void *)o;
	int sum = 0;
	if (__builtin_preserve_field_info(o->gone, EXISTS))
		sum += o->gone;
	if (__builtin_preserve_field_info(n->added, EXISTS))
		sum += (int)n->added;
	sum += (int)__builtin_preserve_field_info(((struct task *)o)->grown, SIZE);
	sum += (int)__builtin_preserve_enum_value(*(enum state *)LAST, 1);
	sum += (int)__builtin_preserve_enum_value(*(enum state *)DEAD, 0);
	sum += (int)__builtin_preserve_enum_value(*(enum state *)DEAD, 1);
	sum += (int)__builtin_preserve_type_info(*(struct nowhere *)0, 0);
	sum += (int)__builtin_preserve_type_info(*(struct task *)0, 1);
	sum += (int)__builtin_preserve_type_info(*(struct inner *)0, 0);
#if __has_builtin(__builtin_preserve_type_info) && __clang_major__ >= 15
	sum += (int)__builtin_preserve_type_info(*(struct inner___match *)0, 2);
	sum += (int)__builtin_preserve_type_info(*(struct inner___other *)0, 2);
#endif
	sum += (int)__builtin_btf_type_id(*(struct task *)0, 1);
	sum += (int)__builtin_btf_type_id(*(struct task *)0, 0);
	return sum;
}
char _license[] SEC("license") = "GPL";
