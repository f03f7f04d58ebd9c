// An ARRAY per dimension. An array of a typedef of an array refers to the TYPEDEF with clang; gcc resolves the typedef.
// flags: -O1 -fno-strict-aliasing
// features: +global_var
// count: 1 ^INT int
// expect: ARRAY: [2 by int][3 by int]int
// expect: ARRAY: [2 by int][3 by int][4 by int]int
// expect: ARRAY: [3 by int]const int
// expect: ARRAY: [2 by int][3 by int]const int
// expect: ARRAY: [5 by int][6 by int]volatile char
// expect: ARRAY: [0 by int][4 by int]int
// expect: ARRAY: [3 by int][0 by int]int
// expect: ARRAY: [1 by int][1 by int]_Bool
// expect: PTR: *[2 by int][3 by int]int
// expect: ARRAY: [7 by int]*[8 by int][9 by int]int
// expect: TYPEDEF row = [4 by int]int
// expect: TYPEDEF grid = [2 by int][3 by int]int
// expect-clang: ARRAY: [3 by int]row
// expect-clang: ARRAY: [4 by int][5 by int]grid
// expect-gcc: ARRAY: [3 by int][4 by int]int
// expect-gcc: ARRAY: [4 by int][5 by int][2 by int][3 by int]int
// expect: TYPEDEF vector = [4 by int]int
// expect: ARRAY: [3 by int]vector
// expect: ARRAY: [2 by int][5 by int][4 by int]int
// expect: ARRAY: [0 by int][7 by int]int
typedef int row[4];
typedef int grid[2][3];
typedef int vector __attribute__((vector_size(16)));
struct arrays {
    int a[2][3];
    int b[2][3][4];
    const int c[2][3];
    volatile char d[5][6];
    row e[3];
    const row f[3];
    grid g[4][5];
    const grid h;
    int none[0][4];
    int none_each[3][0];
    row *to_row;
    int (*to_array)[2][3];
    int (*pointers[7])[8][9];
    _Bool one[1][1];
    vector v[3];
    __attribute__((vector_size(16))) int w[2][5];
};
struct flexible {
    int n;
    int rest[][4];
};
//// a.c
struct arrays whole;
struct flexible flexible;
grid *whole_grid;
int declared[3][7] = {{1}};
//// b.c
extern int declared[][7];
int (*pointer)[][7] = &declared;
int variable(int n, int m[n][n], int k[3][5])
{
    int rows[n][4];
    rows[0][3] = n;
    return rows[n - 1][3] + m[1][2] + k[1][1];
}
struct arrays *second;
