// Structs in unions in structs, empty ones, forward declarations, types inside functions.
// compilers: gcc clang cross64
// emit: --features=+global_var
// expect: STRUCT outer size 24; int k@0; union {; int x@0; struct {; int y@0; int z@32 } @0 } @32; struct {; int deep@0 } named@96; *struct opaque o@128
// expect: STRUCT empty size 0
// expect: FWD opaque struct
// expect: FWD hidden union
// expect: STRUCT local size 4; int inside@0
// expect: STRUCT ring size 8; *struct ring next@0
struct opaque;
union hidden;
struct outer {
    int k;
    union {
        int x;
        struct {
            int y, z;
        };
    };
    struct {
        int deep;
    } named;
    struct opaque *o;
} outer;
struct empty {
} empty;
struct ring {
    struct ring *next;
} ring;
union hidden *hidden;
struct empty *uses_empty;
int function(int p)
{
    struct local {
        int inside;
    } l = {p};
    {
        struct local *again = &l;
        return again->inside;
    }
}
