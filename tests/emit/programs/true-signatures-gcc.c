// True signatures of gcc's clones: with the symbol's name, and without parameters that are not passed. gcc's DWARF
// shows a dropped parameter only if the order changed. If a name has several clones, one is encoded. With DWARF, up()
// is left out, because `a`, the second parameter in the source, is in the first register. For first(), this does not
// matter, because a struct is among its parameters (29-structs-by-value.c).
// compilers: gcc
// flags: -O2 -fno-ipa-icf
// features: +true_signature
// expect: FUNC kept: int (int a, int b)
// count: 1 ^FUNC first
// count: 1 ^FUNC first\.(isra|constprop)\.0: int \(int a, struct one s\)$
// count: 1 ^FUNC last\.(isra|constprop)\.0: int \(int a, int unused\)$
// count: 1 ^FUNC constant\.constprop\.0: int \(int a, int b, int c\)$
// reject: ^FUNC (up:|constant:|last:)
// reject-dwarf4: ^FUNC up\b
// reject-dwarf5: ^FUNC up\b
// count-plugin: 1 ^FUNC up\.(isra|constprop)\.0: int \(int a\)$
// expect: FUNC user: int (int x)
struct one { int v; };
extern int table[8];
//// a.c
int table[8] = {1};
struct one s;
static __attribute__((noinline)) int first(int unused, int a, struct one s) { return table[a & 7] * s.v; }
static __attribute__((noinline)) int last(int a, int unused) { return table[a & 7] * 5; }
static __attribute__((noinline)) int up(int unused, int a) { return table[a & 7] * 7; }
static __attribute__((noinline)) int constant(int a, int b, int c)
{
    table[b & 7] = c;
    return table[a & 7] * c;
}
__attribute__((noinline)) int kept(int a, int b) { return table[a & 7] + b; }
int user(int x)
{
    return first(3, x, s) + first(x, 4, s) + last(x, 3) + last(4, x) + up(3, x) + up(x, 3) +
           constant(x, x + 1, 3) + constant(x + 1, x, 3) + kept(x, 2);
}
//// b.c
int other(int x) { return table[x & 7]; }
