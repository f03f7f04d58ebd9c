// Variables of size 0 are not encoded.
// expect: VAR full: int global
// reject: ^VAR (empty|nothing|none)
// expect: DATASEC .data..percpu size 8; full@0+4; last@4+4
struct empty {
};
#define PERCPU __attribute__((section(".data..percpu")))
//// a.c
PERCPU int full = 1;
PERCPU struct empty empty;
PERCPU int nothing[0];
PERCPU struct empty none[3];
PERCPU int last = 2;
