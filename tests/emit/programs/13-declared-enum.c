// An enum that one unit only declares gets the definition of another unit, with 4 or 8 bytes.
// features: +global_var
// count: 1 ^ENUM e
// count: 0 ^ENUM wide
// count: 1 ^ENUM64 wide
// expect: ENUM e size 4; A=1; B=2
// expect: ENUM64 wide size 8; W=4294967296
// expect: STRUCT user size 16; *enum e e@0; *enum wide w@64
// count: 1 ^STRUCT user
struct user {
    enum e *e;
    enum wide *w;
};
//// a.c
struct user user = {(void *)1};
//// b.c
enum e { A = 1, B } e = B;
enum wide { W = 0x100000000 } wide = W;
struct user other = {(void *)2};
