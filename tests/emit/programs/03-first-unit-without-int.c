// The first unit has an array, but no int. The result has exactly one int.
// features: +global_var
// count: 1 ^INT int
// expect: INT int size 4 bits 32 signed
// expect: ARRAY: [3 by int]char
// expect-clang: ARRAY: [2 by int]long
// expect-gcc: ARRAY: [2 by int]long int
//// a.c
char letters[3] = {1};
//// b.c
int number = 1;
//// c.c
long longs[2] = {1};
