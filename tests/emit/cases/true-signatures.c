// With the feature true_signature, an instance whose parameters gcc reordered has two prototypes. One has all
// parameters of the source, in the order of the DWARF; the other has only those that are passed. (gcc's DWARF first
// lists the parameters that are passed, then the others. So the order does not show that last() lost its last
// parameter.)
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
