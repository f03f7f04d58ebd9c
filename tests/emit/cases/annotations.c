// btf_type_tag and btf_decl_tag: their order, and what they belong to.
// compilers: clang
// flags: -O1
// emit: --features=+global_var
// expect: PTR: *tag(C) tag(B) tag(A) int
// expect: PTR: *tag(V) void
// expect: PTR: *tag(Q) *tag(P) int
// expect: DECL_TAG on_struct on STRUCT s
// expect: DECL_TAG on_member on STRUCT s part 1
// expect: DECL_TAG on_typedef on TYPEDEF alias
// expect: DECL_TAG on_variable on VAR variable
// expect: DECL_TAG on_function on FUNC function
// expect: DECL_TAG on_parameter on FUNC function part 1
#define T(x) __attribute__((btf_type_tag(#x)))
#define D(x) __attribute__((btf_decl_tag(#x)))
struct s {
    int a;
    int b D(on_member);
} D(on_struct);
typedef int alias D(on_typedef);
int T(A) T(B) T(C) *chain;
void T(V) *nothing;
int T(P) *T(Q) *two;
int variable D(on_variable);
alias function(int x, struct s *y) D(on_function);
alias function(int x, struct s *y D(on_parameter)) { return x + y->b + variable + *chain + **two; }
