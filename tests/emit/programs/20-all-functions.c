// Static functions, functions in .init.text, and functions that cannot be traced also get FUNCs.
// flags: -O1
// expect: FUNC hidden: int (int x)
// expect: FUNC at_start: int (int x)
// expect: FUNC untraced: int (int x)
// expect: FUNC open: int (int x)
// reject: ^FUNC gone
// count: 4 ^FUNC\b
//// a.c
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
static inline int gone(int x) { return x * 5; }
__attribute__((section(".init.text"))) int at_start(int x) { return x * 7; }
__attribute__((no_instrument_function)) int untraced(int x) { return x * 11; }
int open(int x) { return hidden(x) + gone(x); }
