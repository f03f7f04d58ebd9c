// Parameters that are not where BPF programs look for them: gcc drops one (.isra or .constprop), a double is in a
// floating-point register, a packed struct is on the stack. The flags record this. A struct in registers has none.
// compilers: gcc
// flags: -O2
// emit: --address-pool
// expect: FUNCTION dropped optimized reordered address pool
// expect: FUNCTION real unexpected-register address external pool
// expect: FUNCTION on_stack uncertain address external pool
// expect: FUNCTION by_value address external pool
struct __attribute__((packed)) crooked {
    char c;
    long l;
    char d[15];
};
struct pair {
    long a, b;
};
static __attribute__((noinline)) int dropped(int a, int unused, int b) { return a * b; }
int calls(int x) { return dropped(x, 3, 4) + dropped(x + 1, 4, x); }
double real(double d) { return d + 1; }
long on_stack(int a, int b, int c, int d, int e, int f, struct crooked g) { return a + b + c + d + e + f + g.l; }
long by_value(struct pair p, int x) { return p.a + p.b + x; }
