// Function types: variadic, without parameters, with qualifiers of a pointer and of its target.
// compilers: gcc clang cross64
// emit: --features=+global_var
// expect: TYPEDEF handler = *int (*struct fwd, const *volatile void, ...)
// expect: TYPEDEF nullary = *void ()
// expect: TYPEDEF nested = **void (*int (int))
struct fwd;
typedef int (*handler)(struct fwd *, volatile void *const, ...);
typedef void (*nullary)(void);
typedef void (**nested)(int (*)(int));
handler h;
nullary n;
nested deep;
