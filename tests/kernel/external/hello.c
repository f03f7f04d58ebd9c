// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A module from outside the kernel's tree: types, functions and a per-CPU variable of its own, and
// types of the kernel.
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

static int __init hello_init(void)
{
    return hello_count(this_cpu_ptr(&hello_last), current) < 0;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
}
module_exit(hello_exit);

MODULE_DESCRIPTION("BTF of a module from outside the kernel's tree");
MODULE_LICENSE("Dual BSD/GPL");
