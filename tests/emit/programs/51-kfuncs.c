// Functions in a set of kfuncs, in the target's byte order. Other sets cause no tags, and symbols without a FUNC get
// none.
// flags: -O1
// features: +global_var
// expect: DECL_TAG bpf_kfunc on FUNC kf
// expect: DECL_TAG bpf_kfunc on FUNC fast
// expect: DECL_TAG bpf_fastcall on FUNC fast
// expect: FUNC other: int (int x)
// count: 3 ^DECL_TAG
// reject: ^FUNC twice
int kf(int x);
//// a.c
int kf(int x) { return x * 3; }
int fast(int x) { return x * 5; }
int other(int x) { return x * 7; }
static __attribute__((used, noinline)) int twice(int x) { return x * 9; }
int zz(int x) { return x; } // pahole would keep `twice`, of which there are two, as the last name in the alphabet
asm(".pushsection .BTF_ids,\"a\",%progbits\n"
    ".balign 4\n"
    "__BTF_ID__set8__kfuncs: .long 3, 1\n"
    "__BTF_ID__func__kf__1: .long 0, 0\n"
    "__BTF_ID__func__fast__2: .long 0, 0x1000\n"
    "__BTF_ID__func__twice__3: .long 0, 0\n"
    ".size __BTF_ID__set8__kfuncs, . - __BTF_ID__set8__kfuncs\n"
    "__BTF_ID__set8__others: .long 1, 0\n"
    "__BTF_ID__func__other__4: .long 0, 0\n"
    ".size __BTF_ID__set8__others, . - __BTF_ID__set8__others\n"
    ".popsection\n");
//// b.c
static __attribute__((used, noinline)) int twice(int x) { return x * 11; }
