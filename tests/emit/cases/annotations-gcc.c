// btf_type_tag and btf_decl_tag of gcc, from 16 on. Several entries share chains of DW_TAG_GNU_annotation, in type
// units and in the unit that refers to the types. (gcc does not support tags of structs and typedefs.)
// compilers: gcc16
// flags: -O2 -fdebug-types-section
// emit: --features=+global_var
// expect: VAR chain: *tag(C) tag(B) tag(A) int global
// expect: VAR end: *tag(C) tag(B) int global
// expect: VAR nothing: *tag(V) void global
// expect: STRUCT s size 24; int a@0; int b@32; *tag(user) struct s p@64; *tag(user) const char q@128
// expect: STRUCT shares size 16; *struct s x@0; *tag(user) char y@64
// expect: DECL_TAG one on STRUCT s part 0
// expect: DECL_TAG two on STRUCT s part 0
// expect: DECL_TAG two on STRUCT s part 1
// count: 3 ^DECL_TAG .* on STRUCT s\b
// expect: DECL_TAG one on STRUCT shares part 0
// expect: DECL_TAG two on STRUCT shares part 0
// The tags of redeclarations add up.
// expect: DECL_TAG first on VAR redeclared
// expect: DECL_TAG second on VAR redeclared
// expect: DECL_TAG third on VAR redeclared
// expect: DECL_TAG first on VAR declared
// count: 4 ^DECL_TAG .* on VAR
// expect: DECL_TAG first on FUNC function
// expect: DECL_TAG second on FUNC function
// expect: DECL_TAG parameter on FUNC function part 0
// expect: DECL_TAG function on FUNC inlined
// The parameter has the tag twice, in the abstract instance and in the copy. The merge keeps one.
// count: 2 ^DECL_TAG parameter on FUNC inlined part 0
// Pointers to pointers. A tag among the specifiers belongs to the declared pointer with gcc, and to the innermost
// with clang. DWARF does not show how the source was written.
// expect: VAR two: *tag(P) *tag(Q) int global
// expect: VAR outer: *tag(R) *int global
// BTF has type tags only for the targets of pointers.
// expect: VAR tagged: int global
// expect: VAR array: [3 by int]*int global
// count: 1 ^INT int\b
#define T(x) __attribute__((btf_type_tag(#x)))
#define D(x) __attribute__((btf_decl_tag(#x)))
struct s {
    int a D(two) D(one);
    int b D(two);
    struct s T(user) *p;
    const char T(user) *q;
};
struct shares {
    struct s *x D(two) D(one);
    char T(user) *y;
} shares;
struct s s;
int T(A) T(B) T(C) *chain;
int T(B) T(C) *end;
void T(V) *nothing;
int T(P) *T(Q) *two;
int T(R) **outer;
int T(percpu) tagged;
int T(percpu) *array[3];
extern int redeclared D(first);
int redeclared D(second) = 1;
extern int redeclared D(third);
extern int declared D(first) D(first);
int declared;
static inline int inlined(int x D(parameter), int y) D(function);
static inline int inlined(int x D(parameter), int y) { return x * 3 + y; }
int (*pointer)(int, int) = inlined;
int function(int x) D(first);
int function(int x D(parameter)) D(second);
int function(int x D(parameter)) { return inlined(x, 4); }
