// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests compare_modules(), which finds the differences between two results for a module
// (tests/tools/module_difference.h).
#include "tests/tools/module_difference.h"
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

using tools::ModuleBase;
using tools::ModuleDifference;
using Names = std::vector<std::string>;

constexpr std::string_view base_text =
    "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
    "[2] STRUCT 's' size=4 vlen=1\n'a' type_id=1 bits_offset=0\n"
    "[3] FWD 'declared' fwd_kind=struct\n";

ModuleDifference compare(std::string_view a, std::string_view b,
                         std::string_view base_a = base_text, std::string_view base_b = base_text)
{
    TextBlob blobs[] = {from_text(base_a), from_text(base_b)};
    ModuleBase bases[] = {ModuleBase(blobs[0].btf), ModuleBase(blobs[1].btf)};
    return compare_modules(bases[0], *from_text(a, blobs[0].btf), bases[1],
                           *from_text(b, blobs[1].btf));
}

TEST(ModuleDifference, IdsDoNotMatter)
{
    auto d = compare("[4] PTR '' type_id=2\n[5] CONST '' type_id=4\n",
                     "[4] CONST '' type_id=5\n[5] PTR '' type_id=2\n");
    EXPECT_TRUE(d.equal);
    EXPECT_EQ(d.more + d.fewer + d.variables, 0u);
}

TEST(ModuleDifference, NumberOfCopiesMatters)
{
    auto d = compare("[4] PTR '' type_id=2\n[5] PTR '' type_id=2\n", "[4] PTR '' type_id=2\n");
    EXPECT_FALSE(d.equal);
    EXPECT_EQ(d.more, 1u);
    EXPECT_EQ(d.fewer, 0u);
}

TEST(ModuleDifference, FunctionsAreNotCountedAsTypes)
{
    constexpr std::string_view proto = "[4] FUNC_PROTO '' ret_type_id=0\n'x' type_id=1\n";
    constexpr std::string_view kept = "[5] FUNC 'kept' type_id=4 linkage=static\n";
    std::string a = std::string(proto) + std::string(kept);
    std::string b = a + "[6] FUNC_PROTO '' ret_type_id=1\n"
                        "[7] FUNC 'gone' type_id=6 linkage=static\n"
                        "[8] DECL_TAG 'tag' type_id=7 component_idx=-1\n";
    auto fewer = compare(a, b), more = compare(b, a);
    EXPECT_EQ(fewer.only_b, Names{"gone"});
    EXPECT_EQ(more.only_a, Names{"gone"});
    for (const ModuleDifference &d : {fewer, more}) {
        EXPECT_FALSE(d.equal);
        EXPECT_EQ(d.more + d.fewer, 0u);
    }
}

TEST(ModuleDifference, PrototypesOfOneFunction)
{
    auto d = compare("[4] FUNC_PROTO '' ret_type_id=0\n[5] FUNC 'f' type_id=4 linkage=static\n",
                     "[4] FUNC_PROTO '' ret_type_id=1\n[5] FUNC 'f' type_id=4 linkage=static\n");
    EXPECT_EQ(d.prototype, Names{"f"});
    EXPECT_EQ(d.more + d.fewer + d.only_a.size() + d.only_b.size(), 0u);
}

TEST(ModuleDifference, NamesOfTheBaseDefinedAgain)
{
    constexpr std::string_view two = "[4] STRUCT 's' size=8\n[5] STRUCT 'declared' size=4\n";
    auto d = compare(two, "[4] STRUCT 'declared' size=4\n");
    EXPECT_EQ(d.again_a, Names{"struct s"}); // the base only declares the other struct
    EXPECT_EQ(d.again_b, Names{});
    EXPECT_EQ(d.more, 1u);
    EXPECT_EQ(compare(two, two).again_b, Names{"struct s"});
}

TEST(ModuleDifference, Variables)
{
    auto d = compare("[4] VAR 'v' type_id=1 linkage=static\n", "");
    EXPECT_EQ(d.variables, 1u);
    EXPECT_EQ(d.more, 0u);
}

TEST(ModuleDifference, FormOfArrays)
{
    constexpr std::string_view flat = "[4] ARRAY '' type_id=1 index_type_id=1 nr_elems=6\n"
                                      "[5] STRUCT 'm' size=24\n'x' type_id=4 bits_offset=0\n";
    constexpr std::string_view chain = "[4] ARRAY '' type_id=5 index_type_id=1 nr_elems=2\n"
                                       "[5] ARRAY '' type_id=1 index_type_id=1 nr_elems=3\n"
                                       "[6] STRUCT 'm' size=24\n'x' type_id=4 bits_offset=0\n";
    auto d = compare(flat, chain);
    EXPECT_TRUE(d.array_form);
    EXPECT_EQ(d.more + d.fewer, 0u);
    // The difference is also found if the arrays are in the bases.
    auto base = [](std::string_view text) { return std::string(base_text) + std::string(text); };
    EXPECT_TRUE(compare("[6] PTR '' type_id=4\n", "[7] PTR '' type_id=4\n", base(flat), base(chain))
                    .array_form);
    // An array with one more element is a different array.
    constexpr std::string_view longer = "[4] ARRAY '' type_id=1 index_type_id=1 nr_elems=7\n"
                                        "[5] STRUCT 'm' size=28\n'x' type_id=4 bits_offset=0\n";
    d = compare(flat, longer);
    EXPECT_FALSE(d.array_form);
    EXPECT_EQ(d.more, 2u);
    EXPECT_EQ(d.fewer, 2u);
}

} // namespace

} // namespace btflink::test
