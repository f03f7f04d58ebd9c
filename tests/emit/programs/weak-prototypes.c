// Weak and strong definitions with different prototypes. The strong one counts, because the other cannot be called by
// its name. pahole leaves such functions out.
// flags: -O1
// expect: FUNC fewer: int (int strong)
// expect: FUNC more: unsigned char (int strong, *int second)
// expect: FUNC with_typedef: int (int strong)
// expect: FUNC with_sign: int (unsigned int strong)
// count: 4 ^FUNC\b
// pahole-ignore: FUNC FUNC_PROTO
typedef int number;
//// a.c
__attribute__((weak)) int fewer(int weak, int second) { return weak + second; }
unsigned char more(int strong, int *second) { return strong + *second; }
__attribute__((weak)) int with_typedef(number weak) { return weak; }
int with_sign(unsigned strong) { return strong; }
//// b.c
int fewer(int strong) { return strong + 1; }
__attribute__((weak)) int more(void) { return 0; }
int with_typedef(int strong) { return strong + 1; }
__attribute__((weak)) int with_sign(int weak) { return weak; }
