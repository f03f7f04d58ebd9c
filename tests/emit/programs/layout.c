// Everything that depends on the target: sizes, alignment, bitfields, registers of parameters, relocations.
// flags: -O2
// features: +global_var
// pahole-ignore-arm: FUNC FUNC_PROTO
// expect-64: STRUCT list size 16; *struct list next@0; *struct list prev@64
// expect-32: STRUCT list size 8; *struct list next@0; *struct list prev@32
// expect-gcc-64: INT long int size 8 bits 64 signed
// expect-clang-64: INT long size 8 bits 64 signed
// expect-32: INT long int size 4 bits 32 signed
// expect-gcc: INT long long int size 8 bits 64 signed
// expect-clang: INT long long size 8 bits 64 signed
// expect: INT _Bool size 1 bits 8 bool
// expect: STRUCT bits size 8; unsigned int a@0:3; int b@3:7; enum small e@10:2; unsigned int c@32:20; _Bool d@52:1
// expect: ENUM small size 4 signed; ONE=1; MINUS=-1
// expect: ENUM64 large size 8; BIG=78187493530
// expect-i386: FLOAT long double size 12
// expect-arm: FLOAT long double size 8
// expect-64: FLOAT long double size 16
// Without this option, long double is a name for _Float128 from gcc 16 on.
// flags-ppc64le: -mabi=ibmlongdouble
// expect: ARRAY: [4 by int]int
// expect: FWD opaque struct
// expect: VAR counter: volatile int static
// expect: VAR shared: [4 by int]int global
// expect-gcc: VAR on_cpu: long int global
// expect-clang: VAR on_cpu: long global
// expect: VAR late: int global
// count: 2 ^VAR counter:
// expect: VAR chosen: unsigned int global
// reject: ^VAR per_thread
// expect: FUNC middle: int (int x, *struct list l)
// expect: FUNC chosen_function: int (int strong_name)
// expect: FUNC last: int (*const char format, ...)
// expect: FUNC hidden: int (int h)
// reject: ^FUNC inlined
// expect-64: DATASEC .data..percpu size 12; on_cpu@0+8; shared_on_cpu@8+4
// expect-32: DATASEC .data..percpu size 8; on_cpu@0+4; shared_on_cpu@4+4
typedef unsigned int u32;
struct opaque;
struct list {
    struct list *next, *prev;
};
extern int shared[4];
int chosen_function(int);
//// one.c
enum small { ONE = 1, MINUS = -1 };
enum large { BIG = 0x123456789aLL } large;
struct bits {
    unsigned a : 3;
    int b : 7;
    enum small e : 2;
    u32 : 0;
    unsigned c : 20 __attribute__((aligned(4))); // m68k aligns less
    _Bool d : 1;
} bits;
_Bool truth;
long double wide;
long long longest;
struct opaque *opaque;
int shared[4] = {1, 2, 3, 4};
__thread int per_thread = 1;
#ifdef __m68k__
void *__m68k_read_tp(void) { return 0; } // libc's
#endif
static volatile int counter = 5;
long on_cpu __attribute__((section(".data..percpu"))) = 1;
static inline __attribute__((always_inline)) int inlined(int i) { return i * shared[1]; }
static __attribute__((noinline)) int hidden(int h) { return counter += h; }
__attribute__((weak)) int chosen_function(int weak_name) { return weak_name; }
int middle(int x, struct list *l) { return inlined(x) + hidden(l->next == l->prev) + per_thread; }
//// two.c
static volatile int counter = 6;
unsigned chosen = 4;
int late = 9;
int shared_on_cpu __attribute__((section(".data..percpu"))) = 2;
int chosen_function(int strong_name) { return strong_name + chosen + counter; }
int last(const char *format, ...) { return format[0] + shared[2] + late; }
