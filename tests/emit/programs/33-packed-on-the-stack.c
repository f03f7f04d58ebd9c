// A function is left out if a packed struct comes after as many parameters as there are registers for parameters. The
// struct is then taken to be on the stack, at an unknown position. Functions with a packed struct as first parameter
// are kept, and those with other structs, also if the members are bitfields without holes.
// flags: -O1
// reject: ^FUNC (crooked_last|crooked_among|crooked_bits_last)
// expect: FUNC crooked_first: word (struct crooked s)
// expect: FUNC straight_last: word (word a, word b, word c, word d, word e, word f, struct straight s)
// expect: FUNC pointer_last: word (word a, word b, word c, word d, word e, word f, *struct crooked s)
// expect: FUNC bits_last: word (word a, word b, word c, word d, word e, word f, struct bits s)
// expect: FUNC rest_last: word (word a, word b, word c, word d, word e, word f, struct rest s)
// count: 5 ^FUNC\b
// judged otherwise: crooked_first crooked_among crooked_bits_last crooked_last
typedef long word;
struct __attribute__((packed)) crooked {
    char c;
    word l;
};
struct straight {
    word l;
    char c;
};
struct bits {
    int a : 3, b : 9, c : 20;
    unsigned char d : 7, e : 1, f;
    short g : 5, h : 11;
    long i : 40, j : 24;
};
struct rest {
    int a : 3, b : 9; // the remaining bits of the int are not a hole
    char c;
    int d;
};
struct __attribute__((packed)) crooked_bits {
    char a;
    int b : 13; // 3 bits of the last byte are unused
    word c;
};
//// a.c
word crooked_last(word a, word b, word c, word d, word e, word f, struct crooked s) { return a + b + c + d + e + f + s.l; }
word crooked_among(word a, word b, word c, word d, word e, word f, struct crooked s, word g) { return a + b + c + d + e + f + s.l + g; }
word straight_last(word a, word b, word c, word d, word e, word f, struct straight s) { return a + b + c + d + e + f + s.l; }
word pointer_last(word a, word b, word c, word d, word e, word f, struct crooked *s) { return a + b + c + d + e + f + s->l; }
word crooked_first(struct crooked s) { return s.l + s.c; }
word bits_last(word a, word b, word c, word d, word e, word f, struct bits s) { return a + b + c + d + e + f + s.i; }
word rest_last(word a, word b, word c, word d, word e, word f, struct rest s) { return a + b + c + d + e + f + s.d; }
word crooked_bits_last(word a, word b, word c, word d, word e, word f, struct crooked_bits s) { return a + b + c + d + e + f + s.c; }
