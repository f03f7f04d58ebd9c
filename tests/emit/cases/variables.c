// Which variables are encoded, in which sections, and what the link trailer has about them.
// emit: --features=+global_var --address-pool
// expect: VAR shared: int global
// expect: VAR own: long_t static
// expect: VAR declared: [7 by int]int global
// expect: VAR percpu: int global
// expect: VARIABLE own in .data size 8 pool
// expect: VARIABLE shared in .bss size 4 external pool
// expect: VARIABLE percpu in .data..percpu size 4 external pool
// expect: VARIABLE feeble in .data size 4 external weak pool
// expect: DATASEC .data..percpu size 4; percpu@0+4
// reject: VAR (elsewhere|thread|inside|empty|__UNIQUE_ID_x|reg)
// reject: VARIABLE (elsewhere|thread|inside|empty|__UNIQUE_ID_x|reg)
typedef long long_t;
extern int elsewhere;
int feeble __attribute__((weak)) = 2;
int shared;
static long_t own = 4;
extern int declared[];
int declared[7] = {1};
__thread int thread;
struct empty {
} empty;
int percpu __attribute__((section(".data..percpu"))) = 1;
static int __UNIQUE_ID_x __attribute__((used)) = 3;
register unsigned long reg asm("rsp");
long use(void)
{
    static int inside;
    return own++ + elsewhere + thread + inside++;
}
