// Of two common variables in a linked file, the one that is as large as the symbol gets the VAR.
// linked: yes
// features: +global_var
// flags: -O1 -fcommon
// link: -nostdlib -no-pie -Wl,-e,get
// expect: VAR shared: [2 by int]int global
// expect: DATASEC .bss size 8; shared@0+8
// pahole-ignore: VAR DATASEC
//// a.c
int shared;
int get(void) { return shared; }
//// b.c
int shared[2];
int get_second(void) { return shared[1]; }
