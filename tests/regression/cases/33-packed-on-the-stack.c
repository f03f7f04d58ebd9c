// A packed struct behind the registers: nobody knows where it is. Others are fine.
// flags: -O1
// reject: ^FUNC (crooked_last|crooked_among)
// expect: FUNC crooked_first: word (struct crooked s)
// expect: FUNC straight_last: word (word a, word b, word c, word d, word e, word f, struct straight s)
// expect: FUNC pointer_last: word (word a, word b, word c, word d, word e, word f, *struct crooked s)
// count: 3 ^FUNC\b
typedef long word;
struct __attribute__((packed)) crooked {
    char c;
    word l;
};
struct straight {
    word l;
    char c;
};
//// a.c
word crooked_last(word a, word b, word c, word d, word e, word f, struct crooked s) { return a + b + c + d + e + f + s.l; }
word crooked_among(word a, word b, word c, word d, word e, word f, struct crooked s, word g) { return a + b + c + d + e + f + s.l + g; }
word straight_last(word a, word b, word c, word d, word e, word f, struct straight s) { return a + b + c + d + e + f + s.l; }
word pointer_last(word a, word b, word c, word d, word e, word f, struct crooked *s) { return a + b + c + d + e + f + s->l; }
word crooked_first(struct crooked s) { return s.l + s.c; }
