// True signatures of functions that clang changed and marked (from 15 on). Parameters that are not passed are left out,
// and a struct with one passed member becomes this member. Tags follow the remaining parameters.
// compilers: clang
// flags: -O2
// features: +true_signature
// expect-dwarf5: FUNC middle: int (int a, int c)
// expect-dwarf5: DECL_TAG third on FUNC middle part 1
// reject-dwarf5: DECL_TAG second
// pahole-ignore: DECL_TAG
// expect-dwarf5: FUNC many: int (int a, int b, int c, int d, int e, int f)
// expect-dwarf5: FUNC member: long (long a__one, struct pair b, int i)
// expect-dwarf5: FUNC whole: long (struct pair a, struct pair b, int i)
// expect-dwarf5: FUNC in_memory: long (union big u, int x)
// expect-dwarf4: FUNC many: int (int a, int b, int c, int d, int e, int f, int g, int h)
// expect-dwarf4: FUNC member: long (struct pair a, struct pair b, int i)
// expect: FUNC kept: int (int a, int b, int c)
// expect: FUNC user: int (int x)
// reject: ^FUNC \S*\.
struct pair { long one, two; };
union big { long a; char text[24]; };
//// a.c
struct pair p, q;
union big g;
volatile int zero;
#define TAG(text) __attribute__((btf_decl_tag(text)))
__attribute__((noinline)) static int middle(int a, int b TAG("second"), int c TAG("third"))
{
    return a * c - a - c;
}
__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return a * f - b - c - d - e;
}
__attribute__((noinline)) static long member(struct pair a, struct pair b, int i)
{
    return a.one + b.one + b.two + i;
}
__attribute__((noinline)) static long whole(struct pair a, struct pair b, int i, int unused)
{
    return a.one + a.two + b.one + b.two + i;
}
__attribute__((noinline)) static long in_memory(union big u, int unused, int x) { return u.a + x; }
__attribute__((noinline)) int kept(int a, int b, int c) { return a * c - a - c; }
int user(int x)
{
    int y = zero, z = zero;
    return middle(x, y, z) + many(x, y, z, x, y, z, x, y) + member(p, q, x) + whole(p, q, x, y) +
           in_memory(g, x, z) + kept(x, y, z);
}
