// Definitions in two units may differ in const, at any depth. A typedef is another type than what it
// stands for, and so are signed and unsigned.
// flags: -O1
// expect: FUNC with_const: int (const int x, *const char p)
// reject: ^FUNC (with_typedef|with_sign|with_result)
// count: 1 ^FUNC\b
typedef int number;
//// a.c
int with_const(const int x, const char *p) { return x + *p; }
int with_typedef(number x) { return x; }
int with_sign(int x) { return x; }
int with_result(int x) { return x; }
//// b.c
__attribute__((weak)) int with_const(int x, char *p) { return x + *p; }
__attribute__((weak)) int with_typedef(int x) { return x; }
__attribute__((weak)) int with_sign(unsigned x) { return x; }
__attribute__((weak)) long with_result(int x) { return x; }
