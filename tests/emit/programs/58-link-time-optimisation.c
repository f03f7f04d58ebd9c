// The code is generated at the link, so its DWARF is in the linked file, in units that refer to each other.
// flags: -O2 -flto
// linked: yes
// link: -flto -Wl,-e,entry
// features: +global_var
// expect: FUNC entry: int (int x)
// expect: FUNC last: int (int x)
// reject: ^FUNC hidden
// count: 1 ^STRUCT s\b
struct s {
    int a;
    int b;
};
//// a.c
int helper(struct s *s, int unused);
int last(int x);
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
int entry(int x)
{
    struct s s = {x, 2};
    return helper(&s, 1) + hidden(x) + last(x);
}
//// b.c
int table[4] = {1};
__attribute__((noinline)) int helper(struct s *s, int unused) { return s->a + table[s->b & 3]; }
static __attribute__((noinline, used)) int hidden(int y) { return y * 5; }
__attribute__((used)) int last(int x) { return x + 1; }
