// A name that begins with another name is a different name.
// flags: -O2
// expect: FUNC foo_bar: int (int x)
// expect: FUNC foo_bar_baz: int (int x)
// expect: FUNC fo: int (int x)
// reject: ^FUNC foo:
// count: 3 ^FUNC\b
//// a.c
static inline __attribute__((always_inline)) int foo(int x) { return x * 3; }
int foo_bar(int x) { return foo(x) + 1; }
int foo_bar_baz(int x) { return foo(x) + 2; }
int fo(int x) { return foo(x) + 4; }
