// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Input of linkage-names-test.py: C++ functions, of which all but plain() have mangled symbols:
// overloads, methods, templates, inline functions, functions in namespaces. KEPT functions are in
// the object with all their parameters.
#define KEPT __attribute__((noinline, used))
struct shape {
    int sides;
    KEPT int area(int scale) const;
    static KEPT int count(int first);
    KEPT int inlined(int by) { return sides + by; }
    explicit shape(int n);
};
namespace one
{
KEPT int same(int value)
{
    return value + 1;
}
} // namespace one
namespace two
{
KEPT int same(int value)
{
    return value + 2;
}
} // namespace two
int add(int a, int b)
{
    return a + b;
}
long add(long a)
{
    return a;
}
template <typename T>
KEPT T twice(T value)
{
    return value + value;
}
template int twice(int);
template long twice(long);
extern "C" int plain(int value)
{
    return value;
}
int shape::area(int scale) const
{
    return sides * scale;
}
int shape::count(int first)
{
    return first;
}
shape::shape(int n) : sides(n) {}
inline KEPT int header(int value)
{
    return value * 3;
}
int user(int value)
{
    shape s(value);
    return header(value) + s.inlined(value);
}
