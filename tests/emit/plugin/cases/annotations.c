// btf_decl_tag and btf_type_tag. gcc supports them from 16 on, and ignores them before.
// gcc's DWARF has the tag of the typedef on the function whose result has this type. The plugin has it on the typedef.
// only the plugin: DECL_TAG on_typedef
// tags: on_member on_variable once_more on_static on_function on_parameter
#define T(x) __attribute__((btf_type_tag(#x)))
#define D(x) __attribute__((btf_decl_tag(#x)))
typedef unsigned int u32;
struct s {
    int a;
    int b D(on_member);
    int c D(first) D(second);
} D(on_struct);
typedef int alias D(on_typedef);
typedef int T(user) *user_pointer;
int T(A) T(B) T(C) *chain;
void T(V) *nothing;
int T(P) *T(Q) *two;
u32 T(user) *named;
const char T(percpu) *constant;
struct s T(rcu) *with_struct;
struct t { struct s T(member) *m; user_pointer p; u32 T(member) *n; } t;
int T(array) *array[3];
int (*callback)(struct s T(in_prototype) *, int T(result) *);
int variable D(on_variable);
int variable D(once_more);
static int own D(on_static);
alias function(int x, struct s *y) D(on_function);
alias function(int x, struct s *y D(on_parameter))
{
    return x + y->b + variable + *chain + **two + own++;
}
