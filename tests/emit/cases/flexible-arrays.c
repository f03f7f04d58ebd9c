// Arrays of unknown length at the end of structs, also in a union, as the kernel's DECLARE_FLEX_ARRAY() declares them.
// expect: STRUCT size 0
// emit: --features=+global_var
// expect-gcc: STRUCT size 0; struct { } empty@0; [0 by int]short int all@0
// expect-clang: STRUCT size 0; struct { } empty@0; [0 by int]short all@0
// expect-gcc: STRUCT entry size 8; int count@0; union {; short int first@0; struct {; struct { } empty@0; [0 by int]short int all@0 } @0 } @32
// expect-clang: STRUCT entry size 8; int count@0; union {; short first@0; struct {; struct { } empty@0; [0 by int]short all@0 } @0 } @32
// expect-gcc: STRUCT old size 8; char count@0; [0 by int]long int all@64
// expect-clang: STRUCT old size 8; char count@0; [0 by int]long all@64
struct entry {
    int count;
    union {
        short first;
        struct {
            struct {
            } empty;
            short all[];
        };
    };
} *entry;
struct old {
    char count;
    long all[0];
};
int sum(struct entry *entry, struct old *old)
{
    return entry->all[0] + (int)old->all[0];
}
