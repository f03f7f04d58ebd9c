// Integers with any number of bits (gcc 14 and newer). Their types have no names in gcc's trees.
struct numbers {
    _BitInt(7) seven;
    unsigned _BitInt(7) unsigned_seven;
    unsigned _BitInt(8) eight;
    _BitInt(64) word;
    _BitInt(200) large;
    unsigned _BitInt(200) field : 9;
};
unsigned _BitInt(1) bit;
struct numbers numbers;
_BitInt(33) sum(_BitInt(33) a, unsigned _BitInt(16) b)
{
    return a + b + bit;
}
