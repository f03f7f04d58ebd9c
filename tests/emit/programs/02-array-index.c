// Arrays of all units have one index type, int, independent of the name of the compiler's index type.
// features: +global_var
// count: 1 ^INT int
// expect: ARRAY: [3 by int]unsigned char
// expect: ARRAY: [5 by int]*const char
// count: 1 ^STRUCT holder
// expect: STRUCT holder size 8; [8 by int]char room@0
// reject: \[\d+ by (?!int\])
struct holder {
    char room[8];
};
//// a.c
struct holder first = {{1}};
unsigned char numbers[3] = {1, 2};
//// b.c
struct holder second = {{2}};
const char *names[5] = {"x"};
//// c.c
long unrelated = 1;
struct holder third = {{3}};
