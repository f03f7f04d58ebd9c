// A function is left out if only a clone with fewer parameters remains. The cold part of a function gets no FUNC.
// compilers: gcc
// flags: -O2 -fno-ipa-icf
// expect: FUNC whole: int (int a, int b)
// expect: FUNC cold_one: int (int a)
// reject: ^FUNC (dropped|\S*\.)
// expect: FUNC keeps: int (int a)
// expect: FUNC user: int (int x)
// expect: FUNC stop: void (*const char why)
extern int table[8];
void stop(const char *why) __attribute__((cold, noreturn));
//// a.c
int table[8] = {1};
static __attribute__((noinline)) int dropped(int a, int unused, int b) { return table[a & 7] * b; }
static __attribute__((noinline)) int whole(int a, int b) { return table[a & 7] * b; }
static __attribute__((noinline)) int keeps(int a) { return table[a & 3] + 1; }
int cold_one(int a)
{
    if (__builtin_expect(a > 100, 0)) {
        table[a & 3] = keeps(a);
        stop("too much");
    }
    return table[a & 7];
}
int user(int x) { return dropped(x, 3, 4) + dropped(x + 1, 4, x) + whole(x, 1) + whole(2, x) + keeps(x); }
//// b.c
void stop(const char *why)
{
    for (;;)
        table[0] = why[0];
}
