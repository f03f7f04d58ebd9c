// One ARRAY per dimension. Without a bound, or with one that is not constant, the number of elements is 0.
// compilers: gcc clang cross64
// emit: --features=+global_var
// expect: ARRAY: [2 by int][3 by int]int
// expect-gcc: ARRAY: [0 by int]long int
// expect-clang: ARRAY: [0 by int]long
// expect-gcc: ARRAY: [0 by int][4 by int]short int
// expect-clang: ARRAY: [0 by int][4 by int]short
// expect: ARRAY: [3 by int]*struct s
// expect-gcc: STRUCT s size 8; long int first@0; [0 by int]long int rest@64
// expect: ARRAY: [0 by int]int
// count: 1 ^INT int
long first;
int matrix[2][3];
struct s {
    long first;
    long rest[];
};
struct s *pointers[3];
struct s whole;
short (*rows)[][4];
int of_any_length(int n)
{
    int variable[n];
    variable[0] = n;
    return variable[0];
}
