// Sizes and encodings of base types. The flag CHAR is never set. Base types with sizes that BTF lacks become arrays of
// bytes.
// compilers: gcc clang cross64
// emit: --features=+global_var
// expect: INT int size 4 bits 32 signed
// expect: INT unsigned char size 1 bits 8
// expect: INT signed char size 1 bits 8 signed
// expect: INT _Bool size 1 bits 8 bool
// expect: INT __int128 size 16 bits 128 signed
// expect: FLOAT float size 4
// expect: FLOAT double size 8
// expect: FLOAT long double size 16
// expect: ARRAY: [32 by int]unsigned char
// reject: ^INT .* char$
int i;
unsigned char uc;
signed char sc;
_Bool b;
__int128 wide;
float f;
double d;
long double ld;
_Complex long double odd;
