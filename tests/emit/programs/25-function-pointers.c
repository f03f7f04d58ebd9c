// Parameters that are pointers to functions. The parameters of these functions count, too.
// flags: -O1
// expect: FUNC alike: int (*int (int) call)
// reject: ^FUNC (unlike|fewer)
// count: 2 ^FUNC\b
#define ELSEWHERE extern inline __attribute__((gnu_inline, always_inline))
//// a.c
int alike(int (*call)(int)) { return call(1); }
int unlike(int (*call)(int)) { return call(1); }
int fewer(int (*call)(int, int)) { return call(1, 2); }
//// b.c
ELSEWHERE int alike(int (*call)(int)) { return call(2); }
ELSEWHERE int unlike(int (*call)(long)) { return call(2); }
ELSEWHERE int fewer(int (*call)(int)) { return call(2); }
int user(int (*one)(int), int (*other)(long)) { return alike(one) + unlike(other) + fewer(one); }
