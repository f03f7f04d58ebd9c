// Signs and sizes of enums. An enum that is only declared gets 4 bytes.
// compilers: gcc clang cross64
// emit: --features=+global_var
// expect: ENUM plain size 4; A=0; B=5
// expect: ENUM negative size 4 signed; M=-3; N=7
// expect: ENUM top size 4; T=4294967295
// expect: ENUM packed size 1; P=200
// expect: ENUM packed_negative size 1 signed; PN=-100
// expect: ENUM64 wide size 8; W=4294967296
// expect: ENUM64 wide_negative size 8 signed; X=-4294967296
// expect: ENUM64 both size 8 signed; Y=-1; Z=4294967295
// expect: ENUM ahead size 4
enum plain { A, B = 5 } e1;
enum negative { M = -3, N = 7 } e2;
enum top { T = 0xffffffffu } e3;
enum __attribute__((packed)) packed { P = 200 } e4;
enum __attribute__((packed)) packed_negative { PN = -100 } e9;
enum wide { W = 0x100000000ULL } e5;
enum wide_negative { X = -0x100000000LL } e6;
enum both { Y = -1, Z = 0xffffffffLL } e7;
enum ahead *e8;
