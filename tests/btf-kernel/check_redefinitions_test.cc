// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests what btf-kernel check finds to differ between types of one name, and that forged BTF does
// not take it long. Without limits, the tests ...Quickly... take minutes or gigabytes.
#include "tests/btf-kernel/check_fixture.h"

#include <functional>

namespace btflink::kernel
{

namespace
{

std::string many(size_t count, const std::function<std::string(size_t)> &line)
{
    std::string out;
    for (size_t i = 0; i < count; ++i)
        out += line(i) + "\n";
    return out;
}

/// "[ID] STRUCT ..." and other texts with up to three numbers.
std::string text(const char *format, size_t a, size_t b = 0, size_t c = 0)
{
    return strf(format, a, b, c);
}

class CheckRedefinitions : public CheckKernel
{
protected:
    /// The findings of rule `redefined` for a module with types of its own over a vmlinux.
    Lines redefined(const std::string &vmlinux, const std::string &module)
    {
        set_vmlinux(std::string(vmlinux_text) + "\n" + vmlinux);
        set_module(module);
        kernel_.modules[0].btf_ids.clear();
        kernel_.modules[0].id_symbols.clear();
        Lines out;
        for (const Lines &list : {findings(), notes()})
            for (const std::string &line : list)
                if (line.starts_with("redefined mine: "))
                    out.push_back(line.substr(16));
                else
                    ADD_FAILURE() << line;
        return out;
    }
    /// The difference of the only redefined type.
    std::string difference(const std::string &vmlinux, const std::string &module)
    {
        const Lines lines = redefined(vmlinux, module);
        constexpr std::string_view before = "(vmlinux -> here: ";
        if (lines.size() != 1 || lines[0].find(before) == std::string::npos)
            return joined(lines, "\n");
        const std::string rest = lines[0].substr(lines[0].find(before) + before.size());
        return rest.substr(0, rest.size() - 1);
    }
};

constexpr const char *other_order = "members are in another order or grouped differently";

TEST_F(CheckRedefinitions, MembersOfAUnionInAnotherOrder)
{
    EXPECT_EQ(difference(R"(
    [17] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
    [18] UNION 'u' size=8
        'a' type_id=1 bits_offset=0
        'b' type_id=17 bits_offset=0)",
                         R"(
    [19] UNION 'u' size=8
        'b' type_id=17 bits_offset=0
        'a' type_id=1 bits_offset=0)"),
              other_order);
    EXPECT_EQ(difference(R"(
    [17] ARRAY '' type_id=1 index_type_id=1 nr_elems=1
    [18] ARRAY '' type_id=1 index_type_id=1 nr_elems=2
    [19] UNION 'u' size=8
        'a' type_id=17 bits_offset=0
        'b' type_id=18 bits_offset=0)",
                         R"(
    [20] UNION 'u' size=8
        'b' type_id=18 bits_offset=0
        'a' type_id=17 bits_offset=0)"),
              other_order);
    EXPECT_EQ(difference(R"(
    [17] PTR '' type_id=0
    [18] UNION 'u' size=8
        'a' type_id=17 bits_offset=0
        'b' type_id=3 bits_offset=0)",
                         R"(
    [19] UNION 'u' size=8
        'b' type_id=3 bits_offset=0
        'a' type_id=17 bits_offset=0)"),
              other_order);
}

/// The two pointers are not compared with each other.
TEST_F(CheckRedefinitions, PointersToRedefinedTypesInAnotherOrder)
{
    EXPECT_EQ(redefined(R"(
    [17] STRUCT 'a' size=4
        'x' type_id=1 bits_offset=0
    [18] STRUCT 'b' size=4
        'y' type_id=1 bits_offset=0
    [19] PTR '' type_id=17
    [20] PTR '' type_id=18
    [21] UNION 'u' size=8
        'a' type_id=19 bits_offset=0
        'b' type_id=20 bits_offset=0)",
                        R"(
    [22] STRUCT 'a' size=4
        'x' type_id=1 bits_offset=0
    [23] STRUCT 'b' size=4
        'y' type_id=1 bits_offset=0
    [24] PTR '' type_id=22
    [25] PTR '' type_id=23
    [26] UNION 'u' size=8
        'b' type_id=25 bits_offset=0
        'a' type_id=24 bits_offset=0)"),
              Lines({"has a copy of vmlinux's struct a", "has a copy of vmlinux's struct b",
                     "union u differs from the type of that name in vmlinux (vmlinux -> here: " +
                         std::string(other_order) + ")"}));
}

TEST_F(CheckRedefinitions, MembersGroupedDifferently)
{
    EXPECT_EQ(difference(R"(
    [17] STRUCT '' size=8
        'a' type_id=1 bits_offset=0
        'b' type_id=1 bits_offset=32
    [18] STRUCT 's' size=8
        '(anon)' type_id=17 bits_offset=0)",
                         R"(
    [19] STRUCT '' size=4
        'a' type_id=1 bits_offset=0
    [20] STRUCT 's' size=8
        '(anon)' type_id=19 bits_offset=0
        'b' type_id=1 bits_offset=32)"),
              other_order);
}

TEST_F(CheckRedefinitions, EnumeratorsInAnotherOrder)
{
    EXPECT_EQ(difference(R"(
    [17] ENUM 'e' size=4 encoding=UNSIGNED vlen=2
        'A' val=1
        'B' val=2)",
                         R"(
    [18] ENUM 'e' size=4 encoding=UNSIGNED vlen=2
        'B' val=2
        'A' val=1)"),
              "enumerators are in another order");
    EXPECT_EQ(difference(R"(
    [17] ENUM 'e' size=4 encoding=UNSIGNED vlen=1
        'A' val=1)",
                         R"(
    [18] ENUM 'e' size=4 encoding=SIGNED vlen=1
        'A' val=1)"),
              "kind ENUM: encoded differently");
}

TEST_F(CheckRedefinitions, NamesOfParameters)
{
    EXPECT_EQ(difference(R"(
    [17] FUNC_PROTO '' ret_type_id=0
        'a' type_id=1
    [18] PTR '' type_id=17
    [19] STRUCT 's' size=8
        'call' type_id=18 bits_offset=0)",
                         R"(
    [20] FUNC_PROTO '' ret_type_id=0
        'b' type_id=1
    [21] PTR '' type_id=20
    [22] STRUCT 's' size=8
        'call' type_id=21 bits_offset=0)"),
              "parameters of a function type have other names");
}

TEST_F(CheckRedefinitions, EnumWithAnotherKind)
{
    EXPECT_EQ(difference(R"(
    [17] ENUM64 'e' size=8 encoding=UNSIGNED vlen=1
        'A' val=1
    [18] STRUCT 's' size=8
        'e' type_id=17 bits_offset=0)",
                         R"(
    [19] ENUM 'e' size=4 encoding=UNSIGNED vlen=1
        'A' val=1
    [20] STRUCT 's' size=8
        'e' type_id=19 bits_offset=0)"),
              "enum e: ENUM64 -> ENUM");
}

TEST_F(CheckRedefinitions, EnumOnlyDeclared)
{
    constexpr const char *of_declared = R"(
    [%zu] ENUM 'e' size=4 encoding=UNSIGNED vlen=0
    [%zu] STRUCT 's' size=4
        'e' type_id=%zu bits_offset=0)";
    constexpr const char *of_defined = R"(
    [%zu] ENUM 'e' size=4 encoding=UNSIGNED vlen=1
        'A' val=1
    [%zu] STRUCT 's' size=4
        'e' type_id=%zu bits_offset=0)";
    EXPECT_EQ(difference(text(of_defined, 17, 18, 17), text(of_declared, 19, 20, 19)),
              "enum e is only declared");
    EXPECT_EQ(difference(text(of_declared, 17, 18, 17), text(of_defined, 19, 20, 19)),
              "enum e is defined, not only declared");
}

constexpr size_t count = 20'000;

TEST_F(CheckRedefinitions, OneNameQuicklyCompared)
{
    auto same = [](size_t first, const char *format) {
        return many(count, [&](size_t i) { return text(format, first + i); });
    };
    EXPECT_EQ(
        redefined(same(17, "[%zu] STRUCT 'x' size=0"), same(17 + count, "[%zu] STRUCT 'x' size=0")),
        Lines(count, "has a copy of vmlinux's struct x"));
    const Lines lines =
        redefined(same(17, "[%zu] STRUCT 'x' size=0"), same(17 + count, "[%zu] STRUCT 'x' size=8"));
    ASSERT_EQ(lines.size(), count);
    EXPECT_EQ(lines[0],
              "struct x differs from the type of that name in vmlinux (vmlinux -> here: size 0 -> "
              "8)");
    EXPECT_EQ(lines.back(),
              "struct x differs from the type of that name in vmlinux (vmlinux -> here: not "
              "compared, because it would take too long)");
}

TEST_F(CheckRedefinitions, SharedUnionQuicklyCompared)
{
    // `size`: of the structs. They have the shared union as a part, and a member besides.
    auto sharing = [](size_t first, size_t size) {
        return text("[%zu] UNION '' size=4\n", first) +
               many(count, [](size_t i) { return text("'m%zu' type_id=1 bits_offset=0", i); }) +
               many(count, [&](size_t i) {
                   return text("[%zu] STRUCT 's%zu' size=", first + 1 + i, i) +
                          text("%zu\n'(anon)' type_id=%zu bits_offset=0", size, first);
               });
    };
    EXPECT_EQ(redefined(sharing(17, 4), sharing(18 + count, 4)).size(), count);
    EXPECT_EQ(redefined(sharing(17, 4), sharing(18 + count, 8)).size(), count);
}

/// An unnamed struct that contains a pointer to itself: the pairs are as many as the product of the
/// lengths of both loops.
TEST_F(CheckRedefinitions, LoopsQuicklyCompared)
{
    auto loop = [](size_t first, size_t length) {
        return text("[%zu] STRUCT 's' size=8\n'next' type_id=%zu bits_offset=0\n", first,
                    first + 1) +
               many(length, [&](size_t i) {
                   const size_t pointer = first + 1 + i * 2;
                   return text("[%zu] PTR '' type_id=%zu\n", pointer, pointer + 1) +
                          text("[%zu] STRUCT '' size=8\n'next' type_id=%zu bits_offset=0",
                               pointer + 1, i + 1 < length ? pointer + 2 : first + 1);
               });
    };
    EXPECT_EQ(redefined(loop(17, 10'000), loop(17 + 20'001, 10'001)).size(), 1u);
}

/// 50'000 symbols ask for a type that has two definitions. These differ only at the end of a chain
/// of 5'000 structs.
TEST_F(CheckRedefinitions, TwoDefinitionsQuicklyCompared)
{
    constexpr size_t length = 5'000;
    auto chain = [](size_t first) {
        return many(length, [&](size_t i) {
            const size_t at = first + i * 2;
            return text("[%zu] STRUCT 'chain%zu' size=8\n", at, i) +
                   (i + 1 < length ? text("'next' type_id=%zu bits_offset=0\n", at + 1)
                                   : text("'end%zu' type_id=1 bits_offset=0\n", first)) +
                   text("[%zu] PTR '' type_id=%zu", at + 1, i + 1 < length ? at + 2 : 1);
        });
    };
    set_vmlinux(std::string(vmlinux_text) + "\n" + chain(17) + chain(17 + length * 2));
    Ids ids;
    ids.words = {17};
    for (size_t i = 0; i < 50'000; ++i)
        ids.symbols.push_back({"__BTF_ID__struct__chain0__" + std::to_string(i), 0, 4});
    ids.give(*kernel_.vmlinux);
    kernel_.modules.clear();
    const Lines found = findings();
    ASSERT_EQ(found.size(), 50'000u);
    EXPECT_EQ(found.back(),
              "ids-twice vmlinux: struct chain0 has 2 definitions, and type 17 is used: because of "
              "struct chain4999 (type 10015 -> type 20015: end17 is called end10017)");
}

/// 100'000 symbols ask for a union x, and the BTF has 100'000 structs x.
TEST_F(CheckRedefinitions, AbsentTypeQuicklyFound)
{
    constexpr size_t many_times = 100'000;
    set_vmlinux(std::string(vmlinux_text) + "\n" +
                many(many_times, [](size_t i) { return text("[%zu] STRUCT 'x' size=0", 17 + i); }));
    Ids ids;
    ids.words = {0};
    for (size_t i = 0; i < many_times; ++i)
        ids.symbols.push_back({"__BTF_ID__union__x__" + std::to_string(i), 0, 4});
    ids.give(*kernel_.vmlinux);
    kernel_.modules.clear();
    EXPECT_EQ(findings(), Lines());
}

} // namespace

} // namespace btflink::kernel
