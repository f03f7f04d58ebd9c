// Two functions have different structs with the same name. Both are kept, and pointers to them are distinct.
// flags: -O0
// expect: STRUCT twin size 4; int a@0
// expect: STRUCT twin size 8; long_t b@0
// expect: AMBIGUOUS twin
// expect: STRUCT holder1 size 8; *struct twin t@0
// expect: STRUCT holder2 size 8; *struct twin t@0
// count: 2 ^PTR: \*?struct twin
typedef long long_t;
int one(int x)
{
    struct twin {
        int a;
    } t = {x};
    struct holder1 {
        struct twin *t;
    } h = {&t};
    return h.t->a;
}
long_t two(long_t x)
{
    struct twin {
        long_t b;
    } t = {x};
    struct holder2 {
        struct twin *t;
    } h = {&t};
    return h.t->b;
}
