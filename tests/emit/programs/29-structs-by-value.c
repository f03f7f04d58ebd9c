// A function with a struct by value is kept, in whichever registers its parameters seem to be, because the struct may
// take several or none. The struct may be const, or a typedef. This does not hold for a union by value: with gcc's
// DWARF, union_first is left out.
// flags: -O1
// expect: FUNC pair_first: word (struct pair p, word x)
// expect: FUNC constant: word (const struct pair p, word x)
// expect: FUNC renamed: word (pair_t p, word x)
// expect: FUNC large: word (struct triple t, word x)
// reject-gcc-dwarf4: ^FUNC union_first
// reject-gcc-dwarf5: ^FUNC union_first
// expect-plugin: FUNC union_first: word (union many u, word x)
// expect-clang: FUNC union_first: word (union many u, word x)
// judged otherwise: large union_first
typedef long word;
struct pair {
    word a, b;
};
typedef struct pair pair_t;
struct triple {
    word a, b, c;
};
union many {
    word a[3];
    char c;
};
//// a.c
word pair_first(struct pair p, word x) { return p.a + p.b + x; }
word constant(const struct pair p, word x) { return p.a - p.b + x; }
word renamed(pair_t p, word x) { return p.a * p.b + x; }
word large(struct triple t, word x) { return t.a + t.c + x; }
word union_first(union many u, word x) { return u.a[0] + u.a[2] + x; }
