// Type tags: the one closest to the pointer is the outermost. Each tag belongs to its own pointer.
// compilers: clang
// flags: -O1
// features: +global_var
// expect: PTR: *tag(C) tag(B) tag(A) int
// expect: PTR: *tag(V) void
// expect: PTR: *tag(Q) *tag(P) int
// expect: STRUCT s size 16; *tag(rcu) struct s next@0; *tag(user) const char text@64
// count: 1 ^STRUCT s\b
#define T(x) __attribute__((btf_type_tag(#x)))
struct s {
    struct s T(rcu) * next;
    const char T(user) * text;
};
//// a.c
int T(A) T(B) T(C) * chain = (int *)1;
void T(V) * nothing = (void *)1;
struct s one = {&one};
//// b.c
int T(P) * T(Q) * two = (int **)1;
struct s other = {&other};
