// Static functions with one name are left out if there are several addresses, even if their prototypes agree. This also
// holds for the last name in the alphabet (which pahole keeps).
// flags: -O1
// expect: FUNC alone: int (int x)
// reject: ^FUNC (same|other|zzz)
// count: 1 ^FUNC\b
// pahole-ignore: FUNC FUNC_PROTO
__attribute__((noinline)) static int same(int x) { return x * 3; }
__attribute__((noinline)) static int zzz(int x) { return x * 13; }
//// a.c
__attribute__((noinline)) static int other(int x) { return x * 5; }
static __attribute__((noinline)) int alone(int x) { return x * 7; }
static int (*const volatile user[])(int) __attribute__((used)) = {same, other, alone, zzz};
//// b.c
__attribute__((noinline)) static long other(long x) { return x * 5; }
static int (*const volatile user[])(int) __attribute__((used)) = {same, zzz};
static long (*const volatile more[])(long) __attribute__((used)) = {other};
