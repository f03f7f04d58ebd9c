// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An external module with its own types, functions, kfunc and per-CPU variable, and with types of the
// kernel. It cannot be loaded if the kfunc is missing from its BTF.
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>

struct hello_visit {
    struct task_struct *who;
    struct list_head link;
    unsigned int times : 7;
};

static DEFINE_PER_CPU(struct hello_visit, hello_last);

int hello_count(struct hello_visit *visit, struct task_struct *task);

noinline int hello_count(struct hello_visit *visit, struct task_struct *task)
{
    visit->who = task;
    return visit->times++;
}

__bpf_kfunc_start_defs();

__bpf_kfunc int hello_times(int cpu)
{
    return per_cpu(hello_last, cpu).times;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(hello_kfuncs)
BTF_ID_FLAGS(func, hello_times)
BTF_KFUNCS_END(hello_kfuncs)

static const struct btf_kfunc_id_set hello_set = {
    .owner = THIS_MODULE,
    .set = &hello_kfuncs,
};

static int __init hello_init(void)
{
    int error = register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &hello_set);

    if (error)
        return error;
    return hello_count(this_cpu_ptr(&hello_last), current) < 0; // 0, as counts are not negative
}
module_init(hello_init);

static void __exit hello_exit(void)
{
}
module_exit(hello_exit);

MODULE_DESCRIPTION("BTF of a module from outside the kernel's tree");
MODULE_LICENSE("Dual BSD/GPL");
