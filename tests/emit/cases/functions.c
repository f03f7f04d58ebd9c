// The link trailer has all defined functions, even those that are only inlined, but no declared ones. The blob has
// FUNCs only for those with code of their own.
// compilers: gcc clang riscv64-clang
// flags: -O2
// emit: --address-pool
// expect: FUNC defined: int (int a, *struct s s)
// expect: FUNC variadic: int (*const char format, ...)
// expect: FUNC hidden: int (int h)
// expect: FUNCTION only_inline int (int i) optimized inline
// expect: FUNCTION variadic address external pool
// count: 1 ^FUNCTION defined
// reject: ^FUNC (declared|only_inline)
// reject: ^FUNCTION declared
struct s {
    int x;
};
int declared(int nothing);
static inline int only_inline(int i) { return i + declared(i); }
static __attribute__((noinline)) int hidden(int h) { return h + declared(h); }
int defined(int a, struct s *s) { return only_inline(a) + hidden(s->x); }
int variadic(const char *format, ...) { return format[0]; }
