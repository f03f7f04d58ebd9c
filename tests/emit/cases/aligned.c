// Structs, members and typedefs with an alignment: BTF has only its effects, which are gaps and sizes.
// compilers: gcc clang cross64
// emit: --features=+global_var
// expect: STRUCT line size 64; char tag@0
// expect: STRUCT counters size 192; int read@0; int written@512; struct line line@1024
// expect: STRUCT header size 8; char kind@0; int length@8
// expect: STRUCT compat size 12; int first@0; less_aligned second@32
struct line {
    char tag;
} __attribute__((aligned(64)));
struct counters {
    int read;
    int written __attribute__((aligned(64)));
    struct line line;
} counters;
struct __attribute__((packed, aligned(4))) header {
    char kind;
    int length;
} header;
typedef long long __attribute__((aligned(4))) less_aligned;
struct compat {
    int first;
    less_aligned second;
} compat;
