// Offsets and widths, in the forms of all DWARF versions. Not on arm64, whose ABI has another layout for zero-width
// bitfields.
// compilers: gcc clang s390x
// emit: --features=+global_var
// expect: STRUCT mixed size 16; int a@0:3; unsigned int b@3:5; u32 c@8:10; enum kind e@18:4; volatile u32 d@22:9; word w@64:40; byte t@104
// expect-gcc: STRUCT whole size 4; int full@0:32
// expect: STRUCT packed size 14; byte c@0; int x@8:7; word y@15:50; half z@96
// expect: UNION u size 4; int i@0; unsigned int low@0:3
// expect: STRUCT plain size 8; int a@0; int b@32
typedef unsigned int u32;
typedef unsigned long long word;
typedef unsigned char byte;
typedef unsigned short half;
enum kind { A, B };
struct mixed {
    int a : 3;
    unsigned b : 5;
    u32 c : 10;
    enum kind e : 4;
    volatile u32 d : 9;
    word w : 40;
    byte t;
} m;
struct whole {
    int full : 32;
} w;
struct __attribute__((packed)) packed {
    byte c;
    int x : 7;
    word y : 50;
    int : 0;
    half z;
} p;
union u {
    int i;
    unsigned low : 3;
} u;
struct plain {
    int a, b;
} plain;
