// Offsets are relative to the section, whether its address is 0 (as for x86's per-CPU section before 6.15) or not.
// link: -Wl,--section-start=.data..percpu=0x7ff000
// expect: DATASEC .data..percpu size 32; a@0+8; same@8+4; b@16+4; same@24+8
#define PERCPU __attribute__((section(".data..percpu")))
//// a.c
PERCPU long a = 1;
PERCPU __attribute__((used)) static int same = 2;
//// b.c
PERCPU int b = 3;
PERCPU __attribute__((used)) static long same = 4;
