// Declared unions and structs are distinguished. A union that one unit only declares gets the definition of another
// unit.
// features: +global_var
// expect: FWD only_union union
// expect: FWD only_struct struct
// expect: PTR: *union known
// expect: UNION known size 4; int a@0
// count: 2 ^FWD
union known;
//// a.c
union only_union;
struct only_struct;
union only_union *u = (void *)1;
struct only_struct *s = (void *)1;
union known *k = (void *)1;
//// b.c
union known {
    int a;
} known = {1};
