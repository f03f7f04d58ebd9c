// Global functions with unused parameters are kept. The registers of unused parameters are not checked (case 30).
// flags: -O2
// expect: FUNC unused: int (int a, int b, int c)
// expect: FUNC all_unused: int (int a, int b)
// expect: FUNC overwritten: int (int a, int b)
// count: 3 ^FUNC\b
//// a.c
int unused(int a, int b, int c) { return c; }
int all_unused(int a, int b) { return 7; }
int overwritten(int a, int b)
{
    a = b + 1;
    return a * b;
}
