// The first variable of a section, at offset 0, is encoded like the others, also if it is weak. A discarded one is not.
// features: +global_var
// link: -Wl,--gc-sections,-e,entry
// flags: -O1
// expect: DATASEC .data..percpu size 4; first@0+4
// expect: DATASEC zero size 4; alone@0+4
// reject-image: ^VAR gone
// expect-module: DATASEC dropped size 4; gone@0+4
#define IN(name) __attribute__((section(name)))
//// a.c
IN(".data..percpu") __attribute__((weak)) int first = 1;
IN("dropped") int gone = 3;
IN("zero") static volatile int alone = 4;
int entry(void) { return first + alone; }
