// Declaration tags: the index of a member includes bitfields and unnamed members. A function has the tags of the
// instance that was selected.
// compilers: clang
// flags: -O1
// features: +global_var
// expect: DECL_TAG on_struct on STRUCT s
// expect: DECL_TAG on_member on STRUCT s part 3
// expect: DECL_TAG on_bits on STRUCT s part 1
// expect: DECL_TAG on_typedef on TYPEDEF alias
// expect: DECL_TAG on_variable on VAR variable
// expect: DECL_TAG on_function on FUNC function
// expect: DECL_TAG on_parameter on FUNC function part 1
// count: 7 ^DECL_TAG
#define D(x) __attribute__((btf_decl_tag(#x)))
struct s {
    int a : 3;
    int b : 5 D(on_bits);
    union {
        int c;
        char d;
    };
    int e D(on_member);
} D(on_struct);
typedef int alias D(on_typedef);
//// a.c
int variable D(on_variable) = 1;
alias function(int x, struct s *y) D(on_function);
alias function(int x, struct s *y D(on_parameter)) { return x + y->e + variable; }
//// b.c
__attribute__((weak)) alias function(int x, struct s *y D(on_weak)) { return x + y->e; }
