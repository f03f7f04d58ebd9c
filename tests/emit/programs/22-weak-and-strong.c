// The names of parameters are those of the strong definition, independent of the order of objects.
// flags: -O1
// expect: FUNC early: int (int strong)
// expect: FUNC late: int (int strong)
// expect: FUNC lonely: int (int weak)
// count: 3 ^FUNC\b
//// a.c
__attribute__((weak)) int early(int weak) { return weak; }
int late(int strong) { return strong + 1; }
//// b.c
int early(int strong) { return strong + 1; }
__attribute__((weak)) int late(int weak) { return weak; }
__attribute__((weak)) int lonely(int weak) { return weak + 3; }
