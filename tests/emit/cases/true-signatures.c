// With the feature, instances with changed parameters have two prototypes: that of the source, and that of the calls.
// (gcc's DWARF first lists the parameters that are passed, then the others, so it does not show that the last parameter
// was dropped.)
// compilers: gcc
// flags: -O2
// emit: --address-pool --features=+true_signature
// expect: FUNCTION dropped optimized reordered address pool
// expect: FUNC dropped: int (int a, int b, int unused)
// expect: TRUE FUNCTION dropped optimized reordered address pool
// expect: FUNC dropped: int (int a, int b)
// expect: FUNCTION kept address external pool
// expect: FUNC last: int (int a, int unused)
// count: 1 ^FUNC last
// count: 1 ^TRUE
static __attribute__((noinline)) int dropped(int a, int unused, int b) { return a * b; }
static __attribute__((noinline)) int last(int a, int unused) { return a * 5; }
int kept(int x, int y) { return dropped(x, 3, 4) + dropped(x + 1, 4, x) + last(y, x) + last(x, 4); }
