// Changes by Kbuild to objects of arm64. If a function begins with no-ops for ftrace, the DWARF of gcc before 14 has
// the address after them, where there is no symbol. As with pahole, the first definition then counts, even if it is
// weak, and a clone is left out only if its parameters seem to be reordered or in other registers. Objects that
// run early or outside the kernel get a prefix for symbols, and other sections. Therefore their functions have no
// symbol with the name in DWARF, and their per-CPU variables are not those of the kernel.
// flags: -O2 -fno-ipa-icf -fpatchable-function-entry=4,2
// objcopy: early.o --prefix-symbols=__pi_ --prefix-alloc-sections=.init
// objcopy: hyp.o --prefix-symbols=__hyp_ --rename-section=.data..percpu=.hyp.percpu
// expect: STRUCT early size 8; long int x@0
// expect-gcc13: FUNC chosen: int (int weak_name)
// expect-gcc14: FUNC chosen: int (int strong_name)
// expect: FUNC both: int (int n)
// reject: ^FUNC (dropped|only_early|only_hyp|__)
// expect-image: DATASEC .data..percpu size 8; on_cpu@0+8
// reject-image: ^VAR hyp_on_cpu
extern int table[8];
#define PER_CPU __attribute__((section(".data..percpu")))
//// main.c
int table[8] = {1};
long on_cpu PER_CPU;
__attribute__((weak)) int chosen(int weak_name) { return weak_name; }
static __attribute__((noinline)) int dropped(int a, int unused, int b) { return table[a & 7] * b; }
int both(int n) { return dropped(n, 3, 4) + dropped(n + 1, 4, n) + chosen(1); }
//// strong.c
int chosen(int strong_name) { return table[0] + strong_name; }
//// early.c
struct early { long x; };
static struct early kept;
int only_early(struct early *e) { kept = *e; return 0; }
int both(int n) { return n + kept.x; }
//// hyp.c
long hyp_on_cpu PER_CPU;
int only_hyp(void) { return hyp_on_cpu; }
