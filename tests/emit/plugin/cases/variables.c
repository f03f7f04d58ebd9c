// Variables in all sections; static, weak, common, aliased and thread-local variables.
#define percpu __attribute__((section(".data..percpu")))
percpu int counter;
static percpu long hidden = 3;
percpu struct { int a; } without_name;
int in_bss, in_data = 1;
const int in_rodata = 2;
static int unused_static;
static int used_static;
static const char message[] = "text";
__attribute__((weak)) int weak = 1;
__attribute__((common)) int common;
__attribute__((section(".init.data"))) int in_section = 4;
__attribute__((aligned(64))) int aligned;
__thread int per_thread;
int array[3], matrix[2][2];
extern int aliased __attribute__((alias("in_data")));
extern int declared;
volatile int is_volatile;
int *f(void)
{
    static int local;
    used_static += in_data + declared + message[local];
    hidden += local;
    return local ? &local : &used_static;
}
