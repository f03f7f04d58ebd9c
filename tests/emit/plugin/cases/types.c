// Types in all places where a program may use them. The plugin must write each type that gcc -g describes.
typedef unsigned char u8;
typedef __int128 wide;
typedef int table[3];
typedef const int fixed;
fixed result_without_qualifier(fixed *pointer) { return *pointer; }
struct only_declared;
struct never_used { int x; };
struct in_cast { int x; };
struct in_sizeof { int y; };
struct in_local { struct in_nested { int z; } nested; };
struct in_static { int s; };
struct in_statement { long l; };
struct behind_pointer { struct behind_pointer *next; struct only_declared *other; };
union number { int i; float f; double d; long double ld; };
enum plain { ZERO, ONE, MINUS = -1 };
enum large { BIG = 0x100000000, SMALL = 1 };
enum named_by_enumerator { LONELY = 7 };
enum incomplete;
struct bits {
    unsigned a : 1, : 2, b : 3;
    int : 0;
    u8 c : 7;
    _Bool flag : 1;
    enum plain e : 2;
    long wide : 40;
};
struct __attribute__((packed)) packed { char c; int i; short s : 5; };
struct __attribute__((aligned(64))) aligned { int i; };
struct flexible { int n; char data[]; };
struct zero { int n; char data[0]; };
struct nested { union { struct { int a, b; }; long c; }; struct { char d; } e; };
typedef int vector __attribute__((vector_size(16)));
struct more {
    table t, u[2];
    int grid[2][3][4];
    const char *const names[5];
    volatile int v;
    const volatile long cv;
    int *restrict r;
    void (*callback)(struct more *, int, ...);
    int (*unprototyped)();
    vector vec;
    fixed f;
    _Atomic int at;
    _Complex double z;
    void *nothing;
    const void *constant_nothing;
    wide w;
    enum incomplete *inc;
};
struct more more;

typedef void void_t;
typedef const void const_void_t;
typedef void_t void_again_t;
const_void_t *const_nothing;
void_again_t *again_nothing;
void_t (*returns_nothing)(int);
void_t take(int number)
{
}
struct bits bits;
struct packed packed;
struct aligned aligned;
struct flexible flexible;
struct zero zero;
struct nested nested;
union number number;
enum plain plain;
enum large large;
table row;
extern struct declared_here { int q; } declared;
extern int unknown_size[];
int unknown_size[4];
extern const char text[];
const char text[] = "text";
static const struct in_static unused = {1};
extern int never_referenced;
extern struct only_extern *referenced;
int *taken = (int *)&referenced;
register unsigned long stack_pointer asm("sp");
_Thread_local int per_thread;

int old_style(a, b)
int a;
char b;
{
    return a + b;
}
static int variadic(int n, ...) { return n; }
int declared_only(struct in_prototype *);
int many(struct behind_pointer *p, const int c, volatile struct more *m, int n)
{
    typedef struct { int hidden; } local_typedef;
    struct in_local l = {{n}};
    static struct { int counter; } kept;
    extern int declared_inside(struct in_inner_prototype *);
    char vla[n];
    local_typedef t = {n};
    vla[0] = (char)n;
    for (int i = 0; i < n; ++i) {
        struct in_loop { int i; } inner = {i};
        kept.counter += inner.i + t.hidden;
    }
    int value = ({ struct in_statement s = {n}; (int)s.l; });
    return ((struct in_cast *)p)->x + (int)sizeof(struct in_sizeof) + LONELY + l.nested.z + value +
           (int)m->cv + c + vla[0] + declared_inside(0) + variadic(1, 2) + declared_only(0) +
           __builtin_offsetof(struct nested, c) + kept.counter;
}
int with_nested(int n)
{
    int inner(int m) { return n + m; }
    return inner(n);
}
/* Many types in one function: their order must not depend on addresses. */
#define CAST(n) +((struct cast_##n { char c[1##n]; } *)p)->c[0]
#define TEN(n) CAST(n##0) CAST(n##1) CAST(n##2) CAST(n##3) CAST(n##4) CAST(n##5) CAST(n##6) CAST(n##7) CAST(n##8) CAST(n##9)
int casts_much(char *p)
{
    return 0 TEN(1) TEN(2) TEN(3) TEN(4);
}

/* A repeated typedef, which C11 allows. */
typedef unsigned char again_base;
typedef again_base again;
typedef again_base again;
typedef struct again_s { again a; } again_struct;
typedef struct again_s again_struct;
typedef struct again_t again_first;
typedef struct again_t again_first;
struct again_t { again_first *p; again q; };
typedef int again_array[3];
typedef int again_array[3];
typedef const int again_const;
typedef const int again_const;
typedef enum { AGAIN } again_enum;
typedef again_enum again_enum2;
typedef again_enum again_enum2;
typedef unsigned long long again_cast;
typedef unsigned long long again_cast;
again_struct v_again_struct;
again v_again;
again_first v_again_first;
again_array v_again_array;
again_const *v_again_const;
again_enum2 v_again_enum;
int again_in_function(void *p)
{
    typedef long again_local;
    typedef long again_local;
    again_local l = *(again_cast *)p;
    return (int)l + sizeof(again_struct);
}

/* Casts to types that are defined later or never. */
struct cast_never; union cast_never_union; struct cast_later;
int casts_to_never(void *p)
{
    return ((struct cast_never *)p == p) + ((union cast_never_union *)p == p) + ((struct cast_later *)p == p);
}
struct cast_later { int defined_behind; };
int casts_to_local(void *p) { struct cast_local; return (struct cast_local *)p == p; }

/* The order of two qualifiers depends on earlier types. */
struct qualified { const volatile short both; } qualified_first;
volatile short only_volatile;
const volatile short both_again;
char *const restrict pointer_const;
char *const volatile restrict pointer_both;
char *volatile restrict pointer_volatile;

/* An attribute where a function typedef is used makes another type, which still has the typedef's name. */
typedef int attributed_function(void *);
struct with_attributed_function {
    attributed_function __attribute__((nonnull)) *first;
    __attribute__((nonnull)) attributed_function *second, *third;
} with_attributed_function;
