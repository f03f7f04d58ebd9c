// Assemblers describe functions as void f(void). If a C function of the same name has another prototype, the name is
// left out.
// flags: -O1 -g
// compilers: gcc
// expect: FUNC only_assembly: void ()
// expect: FUNC agreed: void ()
// reject: ^FUNC stub
// expect: FUNC user: int (int x)
// count: 3 ^FUNC\b
//// a.c
__attribute__((weak)) int stub(int x) { return x; }
__attribute__((weak)) void agreed(void) {}
int user(int x) { return stub(x); }
//// b.s
	.section .note.GNU-stack,"",%progbits
	.text
	.globl only_assembly, stub, agreed
	.type only_assembly, %function
only_assembly: ret
	.size only_assembly, . - only_assembly
	.type stub, %function
stub:	ret
	.size stub, . - stub
	.type agreed, %function
agreed:	ret
	.size agreed, . - agreed
