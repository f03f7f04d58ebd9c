// A function with two prototypes is left out, unless they differ only in const, at any depth. A typedef and its target
// are different types, and so are signed and unsigned. Unit b only inlines the functions.
// flags: -O1
// expect: FUNC with_const: int (const int x, *const char p)
// reject: ^FUNC (with_typedef|with_sign|with_result)
// count: 2 ^FUNC\b
typedef int number;
#define ELSEWHERE extern inline __attribute__((gnu_inline, always_inline))
//// a.c
int with_const(const int x, const char *p) { return x + *p; }
int with_typedef(number x) { return x; }
int with_sign(int x) { return x; }
int with_result(int x) { return x; }
//// b.c
ELSEWHERE int with_const(int x, char *p) { return x + *p; }
ELSEWHERE int with_typedef(int x) { return x % 3; }
ELSEWHERE int with_sign(unsigned x) { return x / 5; }
ELSEWHERE long with_result(int x) { return x % 7; }
long user(int x, char *p) { return with_const(x, p) + with_typedef(x) + with_sign(x) + with_result(x); }
