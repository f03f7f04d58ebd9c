// By default only per-CPU variables are encoded, in all their sections.
// expect: VAR plain: int global
// expect: VAR aligned: int static
// expect: DATASEC .data..percpu size 4; plain@0+4
// expect: DATASEC .data..percpu..shared_aligned size 4; aligned@0+4
// count: 2 ^VAR\b
int plain __attribute__((section(".data..percpu"))) = 1;
static int aligned __attribute__((section(".data..percpu..shared_aligned"), used)) = 1;
int ordinary = 3;
static int another = 4;
int *use(void) { return &another; }
