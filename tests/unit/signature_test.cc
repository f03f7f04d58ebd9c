// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the signatures of types by which btf-compare compares BTF, and describe()
// (tests/tools/signature.h).
#include "tests/tools/signature.h"
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

using tools::Depth;

tools::Signature of(std::string_view text, uint32_t id, Depth depth)
{
    return tools::SignatureTable(*from_text(text), depth).of(TypeId{id});
}

constexpr std::string_view pointer_to_small = "[1] PTR '' type_id=2\n[2] STRUCT 's' size=4\n";
constexpr std::string_view pointer_to_large = "[1] PTR '' type_id=2\n[2] STRUCT 's' size=8\n";
constexpr std::string_view pointer_to_forward =
    "[1] PTR '' type_id=2\n[2] FWD 's' fwd_kind=struct\n";

TEST(Signature, NamesStandForStructs)
{
    auto names = of(pointer_to_small, 1, Depth::names);
    EXPECT_EQ(names, of(pointer_to_large, 1, Depth::names));
    EXPECT_EQ(names, of(pointer_to_forward, 1, Depth::names));
    EXPECT_NE(of(pointer_to_small, 2, Depth::names), of(pointer_to_large, 2, Depth::names));
    EXPECT_NE(of(pointer_to_small, 2, Depth::names), of(pointer_to_forward, 2, Depth::names));
}

TEST(Signature, DepthAllIgnoresNothing)
{
    auto all = of(pointer_to_small, 1, Depth::all);
    EXPECT_NE(all, of(pointer_to_large, 1, Depth::all));
    EXPECT_NE(all, of(pointer_to_forward, 1, Depth::all));
    EXPECT_EQ(all, of("[1] STRUCT 's' size=4\n[2] PTR '' type_id=1\n", 2, Depth::all));
}

TEST(Signature, IdsDoNotMatterInCycles)
{
    constexpr std::string_view a = "[1] STRUCT 's' size=8\n'next' type_id=2 bits_offset=0\n"
                                   "[2] PTR '' type_id=1\n";
    constexpr std::string_view b = "[1] FWD 'x' fwd_kind=struct\n[2] PTR '' type_id=3\n"
                                   "[3] STRUCT 's' size=8\n'next' type_id=2 bits_offset=0\n";
    for (Depth depth : {Depth::names, Depth::all}) {
        EXPECT_EQ(of(a, 1, depth), of(b, 3, depth));
        EXPECT_EQ(of(a, 2, depth), of(b, 2, depth));
    }
    // The computation ends for a cycle without names, too.
    of("[1] PTR '' type_id=2\n[2] CONST '' type_id=1\n", 1, Depth::names);
}

TEST(Signature, EveryWordCounts)
{
    constexpr std::string_view text = "[1] FUNC 'f' type_id=2 linkage=static\n"
                                      "[2] FUNC_PROTO '' ret_type_id=0\n'a' type_id=3\n"
                                      "[3] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=BOOL\n";
    auto original = of(text, 1, Depth::names);
    constexpr std::pair<std::string_view, std::string_view> changes[] = {
        {"'f'", "'g'"},
        {"static", "global"},
        {"'a'", "'b'"},
        {"ret_type_id=0", "ret_type_id=3"},
        {"type_id=3", "type_id=0"},
        {"'i'", "'j'"},
        {"size=4", "size=8"},
        {"BOOL", "CHAR"}};
    for (auto [from, to] : changes) {
        std::string changed(text);
        changed.replace(changed.find(from), from.size(), to);
        EXPECT_NE(of(changed, 1, Depth::names), original) << to;
    }
}

TEST(Signature, Describe)
{
    TextBlob blob = from_text("[1] STRUCT 's' size=8\n'next' type_id=2 bits_offset=0\n"
                              "[2] PTR '' type_id=3\n[3] CONST '' type_id=1\n"
                              "[4] FUNC_PROTO '' ret_type_id=0\n'a' type_id=2\n"
                              "[5] FUNC 'f' type_id=4 linkage=global\n");
    EXPECT_EQ(tools::describe(*blob, TypeId{1}),
              "[1] STRUCT s size 8 { next struct s const * 0; }");
    EXPECT_EQ(tools::describe(*blob, TypeId{5}), "[5] FUNC f: void (struct s const * a) linkage 1");
}

} // namespace

} // namespace btflink::test
