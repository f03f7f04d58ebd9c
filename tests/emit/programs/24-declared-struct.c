// A struct that one unit defines and another declares is one type. Prototypes agree if structs have the same name, even
// with other members. A struct and a union differ.
// flags: -O1
// expect: FUNC known: int (*struct s s)
// expect: FUNC layout: int (*struct t t)
// expect: FUNC inner: int (*struct holder h)
// reject: ^FUNC kind
// count: 4 ^FUNC\b
// expect: STRUCT s size 8; int a@0; int b@32
// reject: ^FWD s\b
// count: 2 ^STRUCT t\b
#define ELSEWHERE extern inline __attribute__((gnu_inline, always_inline))
//// a.c
struct s {
    int a, b;
};
struct t {
    int a;
};
struct holder {
    struct s *s;
};
struct k {
    int a;
};
int known(struct s *s) { return s->a; }
int layout(struct t *t) { return t->a; }
int inner(struct holder *h) { return h->s->b; }
int kind(struct k *k) { return k->a; }
//// b.c
struct s;
struct t {
    long a;
};
struct holder {
    struct s *s;
};
union k {
    int a;
};
ELSEWHERE int known(struct s *s) { return s != 0; }
ELSEWHERE int layout(struct t *t) { return t->a * 5; }
ELSEWHERE int inner(struct holder *h) { return h->s != 0; }
ELSEWHERE int kind(union k *k) { return k->a * 3; }
int user(struct s *s, struct t *t, struct holder *h, union k *k) { return known(s) + layout(t) + inner(h) + kind(k); }
