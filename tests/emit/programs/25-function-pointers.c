// Parameters that are pointers to functions: what these take counts as well.
// flags: -O1
// expect: FUNC alike: int (*int (int) call)
// reject: ^FUNC (unlike|fewer)
// count: 1 ^FUNC\b
//// a.c
int alike(int (*call)(int)) { return call(1); }
int unlike(int (*call)(int)) { return call(1); }
int fewer(int (*call)(int, int)) { return call(1, 2); }
//// b.c
__attribute__((weak)) int alike(int (*call)(int)) { return call(2); }
__attribute__((weak)) int unlike(int (*call)(long)) { return call(2); }
__attribute__((weak)) int fewer(int (*call)(int)) { return call(2); }
