// Variables of size 0 are not encoded. A struct of one byte with only unnamed members is not empty.
// expect: VAR full: int global
// expect: VAR unnamed: [3 by int]struct bits global
// reject: ^VAR (empty|nothing|none)
// expect: DATASEC .data..percpu size 11; full@0+4; last@4+4; unnamed@8+3
struct empty {
};
#define PERCPU __attribute__((section(".data..percpu")))
//// a.c
PERCPU int full = 1;
PERCPU struct empty empty;
PERCPU int nothing[0];
PERCPU struct empty none[3];
PERCPU int last = 2;
PERCPU struct bits {
    struct {
        unsigned char low : 1;
    };
} unnamed[3] = {{{1}}};
