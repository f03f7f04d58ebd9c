// Places of parameters, also after optimisation. gcc -g and the plugin agree, except for these functions:
// judged otherwise: by_value_in_memory result_in_memory wide wide_last
struct large { long l[8]; };
struct pair { long a, b; };
struct __attribute__((packed)) crooked { char c; long l; char d[15]; };
#define apart __attribute__((noinline))
static apart int dropped(int a, int unused, int b) { return a * b; }
static apart int constant(int a, int b) { return a * b; }
static apart int scalar(struct pair *p, int b) { return (int)p->a + b; }
static apart int split(int *p, int n)
{
    if (n < 3)
        return 0;
    for (int i = 0; i < n; ++i)
        p[i] += p[i + 1] * n;
    return p[0];
}
static inline int inlined(int a) { return a + 1; }
static int unused(int a) { return a; }
static int alone(int a) { return a * 3; }
int calls(int *p, int x)
{
    struct pair s = {x, x};
    return dropped(x, 3, 4) + dropped(x + 1, 4, x) + constant(x, 5) + constant(x + 1, 5) +
           scalar(&s, x) + split(p, x) + split(p + 1, x) + inlined(x) + alone(x);
}
int (*address)(int) = inlined;
double real(double d) { return d + 1; }
int real_last(int a, float f) { return a + (int)f; }
long on_stack(int a, int b, int c, int d, int e, int f, struct crooked g)
{
    return a + b + c + d + e + f + g.l;
}
long by_value(struct pair p, int x) { return p.a + p.b + x; }
long by_value_in_memory(struct large p, int x) { return p.l[0] + x; }
struct large result_in_memory(int x) { return (struct large){{x}}; }
struct pair result_in_registers(int x) { return (struct pair){x, x}; }
#ifdef __SIZEOF_INT128__
int wide(__int128 w, int x) { return (int)w + x; }
int wide_last(int x, __int128 w) { return (int)w + x; }
// As the kernel's __efiapi.
#ifdef __x86_64__
int __attribute__((ms_abi)) of_other_convention(int a, int b) { return a - b; }
int __attribute__((ms_abi)) of_other_convention_without_parameters(void) { return 1; }
#endif
#endif
int eight(int a, int b, int c, int d, int e, int f, int g, int h) { return a + b + c + d + e + f + g + h; }
int sum(volatile int *p, int n);
/* Between the uses of the parameters on the stack, more values are needed than there are registers. */
int aligns_the_stack(int a, int b, int c, int d, int e, int f, int *g, unsigned h, unsigned long i, int j)
{
    _Alignas(64) volatile int local[16] = {};
    const int t = sum(local, *g), u = sum(local, a), v = sum(local, b), w = sum(local, c), x = sum(local, h),
              y = sum(local, t ^ i), z = sum(local, j);
    return sum(local, a + b + c + d + e + f + t + u + v + w + x + y + z) + t * u * v * w * x * y * z + (int)i + j;
}
__attribute__((weak)) int weak(int a) { return a; }
int aliased(int a) { return a + 2; }
int other_name(int a) __attribute__((alias("aliased")));
int renamed(int a) asm("renamed_for_the_assembler");
int renamed(int a) { return a + 4; }
__attribute__((section(".init.text"))) int in_section(int a) { return a; }
__attribute__((cold)) int cold(int a) { return a; }
__attribute__((noreturn)) void stop(int a) { for (;;) ; }
long long wide_on_i386(long long a, int b) { return a + b; }
// 32-bit arm leaves a register free before `b` in the first function, so this function is left out on arm.
long long apart_on_arm(int a, long long b) { return a + b; }
long long even_on_arm(int a, int b, long long c) { return a + b + c; }
long long in_memory_on_arm(int a, int b, int c, long long d, int e) { return a + b + c + d + e; }
