// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Named address spaces. Kernels for x86-64 from 6.15 on may have __seg_gs in the type of each per-CPU variable, if the
// compiler knows __typeof_unqual__, as gcc does from 14 on.
#ifdef __SEG_GS
#define SPACE __seg_gs
#else
#define SPACE
#endif

typedef signed int plain_t;
typedef plain_t counter_t;
typedef const counter_t fixed_t;
typedef counter_t SPACE spaced_t;
typedef struct node {
    counter_t SPACE *next;
    const counter_t SPACE *after_const;
    counter_t SPACE *const volatile qualified;
    fixed_t SPACE *fixed;
    spaced_t *spaced;
    const spaced_t *const_spaced;
    struct node SPACE *self;
    const struct node SPACE *const_self;
    struct only_declared SPACE *declared;
    void SPACE *nothing;
    const void SPACE *const_nothing;
    counter_t SPACE *SPACE *two;
    counter_t SPACE (*array)[4];
    enum { ONE } SPACE *choice;
    spaced_t (*function)(spaced_t SPACE *, const fixed_t SPACE *);
} node_t;

const node_t SPACE *node_of_cpu;
counter_t SPACE counter = 1;
const counter_t SPACE const_counter = 2;
node_t SPACE nodes[2];
static volatile fixed_t SPACE hidden = 4;

counter_t sum(const node_t SPACE *node, counter_t SPACE *more, const spaced_t *most)
{
    return *more + *most + hidden + (node->self != 0);
}
