// Constructs that compilers accept and kernels refuse. Types are changed just enough, with a warning; functions and
// variables with illegal names are left out. An unaligned float, and a bitfield of a 64-bit enum, become INTs.
// emit: --features=+global_var
// said: btf-emit: WARNING: .*case\.o: \.debug_info: .*odd\.c: type \d+ \(STRUCT 'größe'\): name is not an identifier: it is renamed to 'gr__e' \(and \d+ more\)
// expect: STRUCT gr__e size 8; int l_nge@0; int breite@32
// expect: TYPEDEF h_ufig = int
// expect: ENUM farbe size 4; gr_n=0; rot=1
// expect: VAR hv: h_ufig global
// expect: STRUCT dollar size 4; int a_b@0
// expect: STRUCT wide_bits size 24; long long unsigned int a@0:40; long long int s@64:60; enum wide b@128
// expect: STRUCT packed size 13; char c@0; double d@8; float f@72
// count: 2 ^(INT|FLOAT) double size 8
// expect-gcc: STRUCT late size 0; [0 by int]char a@0
// expect: FUNC fine: int (int a)
// reject: FUNC .*(gr|l_nge)
// reject: VAR .*ber
struct größe {
    int länge, breite;
} g;
typedef int häufig;
häufig hv;
enum farbe { grün, rot } farbe;
struct dollar {
    int a$b;
} dollar;
enum wide { W = 1ULL << 40 };
enum below { B = -(1LL << 40) };
struct wide_bits {
    enum wide a : 40;
    enum below s : 60;
    enum wide b;
} wide_bits;
struct __attribute__((packed)) packed {
    char c;
    double d;
    float f;
} packed;
double aligned;
int über;
int grüße(struct größe *p, int größe)
{
    return p->länge + größe;
}
#ifndef __clang__
void use(void *);
int late(int n)
{
    struct late {
        char a[n];
        int b;
    } s;
    s.b = n;
    use(&s);
    return s.b;
}
#endif
int fine(int a)
{
    return a;
}
