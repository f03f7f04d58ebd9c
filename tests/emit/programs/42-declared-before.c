// A declaration before the definition: name and type come from the declaration, but an array's size from the
// definition. pahole leaves out the array, because gcc's declaration has no size.
// features: +global_var
// pahole-ignore: VAR DATASEC ARRAY
// expect: VAR plain: int global
// expect: VAR open: [4 by int]int global
// expect: VAR renamed: number global
// expect: DATASEC .data size 24; open@0+16; plain@16+4; renamed@20+4
typedef int number;
//// a.c
extern int plain;
extern int open[];
extern number renamed;
int open[4] = {1};
int plain = 2;
number renamed = 3;
