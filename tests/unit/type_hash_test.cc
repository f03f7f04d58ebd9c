// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests which types have equal stub hashes or loose hashes, and the values of stub hashes, which
// are part of the object format.
#include "common/object_btf/type_hash.h"
#include "tests/unit/text_blob.h"

#include <cinttypes>

namespace btflink::test
{

namespace
{

Hash128 stub_of(const TextBlob &blob, uint32_t id)
{
    return stub_hashes(*blob)[id - raw(blob->first_id())];
}

constexpr std::string_view graph = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] STRUCT 'list' size=16
        'value' type_id=1 bits_offset=0
        'next' type_id=3 bits_offset=64
    [3] PTR '' type_id=2
    [4] CONST '' type_id=3
    [5] ARRAY '' type_id=4 index_type_id=1 nr_elems=7
)";

TEST(StubHash, IdsAndStringOffsetsDoNotMatter)
{
    constexpr std::string_view other = R"(
        [1] FWD 'unrelated' fwd_kind=struct
        [2] ARRAY '' type_id=6 index_type_id=5 nr_elems=7
        [3] PTR '' type_id=4
        [4] STRUCT 'list' size=16
            'value' type_id=5 bits_offset=0
            'next' type_id=3 bits_offset=64
        [5] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
        [6] CONST '' type_id=3
    )";
    TextBlob a = from_text(graph);
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        TextBlob b = from_text(other, nullptr, order);
        constexpr uint32_t pairs[][2] = {{1, 5}, {2, 4}, {3, 3}, {4, 6}, {5, 2}};
        for (const auto &[in_a, in_b] : pairs)
            EXPECT_EQ(stub_of(a, in_a), stub_of(b, in_b)) << in_a;
    }
}

/// The stub hash of type 1 in `text`.
Hash128 first(std::string_view text)
{
    return stub_of(from_text(text), 1);
}

TEST(StubHash, DifferentTypesDiffer)
{
    const Hash128 all[] = {
        first("[1] STRUCT 's' size=4\n'a' type_id=2 bits_offset=0\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        first("[1] STRUCT 's' size=8\n'a' type_id=2 bits_offset=0\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        first("[1] STRUCT 's' size=4\n'b' type_id=2 bits_offset=0\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        first("[1] STRUCT 's' size=4\n'a' type_id=2 bits_offset=8\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        first("[1] STRUCT 's' size=4\n'a' type_id=2 bits_offset=0\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED"),
        first("[1] STRUCT 's' size=4 kflag=1\n'a' type_id=2 bits_offset=0\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        first("[1] UNION 's' size=4\n'a' type_id=2 bits_offset=0\n"
              "[2] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=(none)"),
        first("[1] STRUCT 's' size=4\n"),
        first("[1] STRUCT '' size=4\n"),
        first("[1] FWD 's' fwd_kind=struct"),
        first("[1] FWD 's' fwd_kind=union"),
        first("[1] ENUM 'e' size=4 encoding=SIGNED\n'A' val=0"),
        first("[1] ENUM 'e' size=4 encoding=UNSIGNED\n'A' val=0"),
        first("[1] ENUM 'e' size=4 encoding=SIGNED\n'A' val=1"),
        first("[1] ENUM64 'e' size=4 encoding=SIGNED\n'A' val=0"),
        first("[1] ENUM64 'e' size=4 encoding=SIGNED\n'A' val=0x100000000"),
        first("[1] PTR '' type_id=0"),
        first("[1] CONST '' type_id=0"),
        first("[1] PTR '' type_id=2\n[2] CONST '' type_id=0"),
        first("[1] FUNC_PROTO '' ret_type_id=0"),
        first("[1] FUNC_PROTO '' ret_type_id=0\n'' type_id=0"),
        first("[1] FUNC 'f' type_id=2 linkage=static\n[2] FUNC_PROTO '' ret_type_id=0"),
        first("[1] FUNC 'f' type_id=2 linkage=global\n[2] FUNC_PROTO '' ret_type_id=0"),
        first("[1] VAR 'v' type_id=2 linkage=static\n[2] PTR '' type_id=0"),
        first("[1] VAR 'v' type_id=2 linkage=global\n[2] PTR '' type_id=0"),
        first("[1] ARRAY '' type_id=2 index_type_id=2 nr_elems=1\n[2] PTR '' type_id=0"),
        first("[1] ARRAY '' type_id=2 index_type_id=2 nr_elems=2\n[2] PTR '' type_id=0"),
        first("[1] DECL_TAG 't' type_id=2 component_idx=-1\n[2] STRUCT 's' size=0"),
        first("[1] DECL_TAG 't' type_id=2 component_idx=0\n[2] STRUCT 's' size=0"),
        first("[1] TYPE_TAG 't' type_id=0"),
        first("[1] TYPE_TAG 't' type_id=0 kflag=1"),
        first("[1] TYPEDEF 't' type_id=0"),
    };
    for (size_t i = 0; i < std::size(all); ++i)
        for (size_t j = 0; j < i; ++j)
            EXPECT_FALSE(all[i] == all[j]) << i << " and " << j;
}

TEST(StubHash, NamedStructsCountByName)
{
    Hash128 whole = first("[1] PTR '' type_id=2\n[2] STRUCT 's' size=4");
    EXPECT_EQ(whole, first("[1] PTR '' type_id=2\n[2] STRUCT 's' size=8"));
    EXPECT_EQ(whole, first("[1] PTR '' type_id=2\n[2] FWD 's' fwd_kind=struct"));
    EXPECT_FALSE(whole == first("[1] PTR '' type_id=2\n[2] STRUCT 'other' size=4"));
    EXPECT_FALSE(whole == first("[1] PTR '' type_id=2\n[2] UNION 's' size=4"));
    EXPECT_FALSE(whole == first("[1] PTR '' type_id=2\n[2] FWD 's' fwd_kind=union"));
    EXPECT_FALSE(first("[1] PTR '' type_id=2\n[2] STRUCT '' size=4") ==
                 first("[1] PTR '' type_id=2\n[2] STRUCT '' size=8"));
}

TEST(StubHash, CyclesWithoutNamesEnd)
{
    TextBlob loop = from_text("[1] PTR '' type_id=2\n[2] CONST '' type_id=1\n[3] PTR '' type_id=3\n"
                              "[4] STRUCT '' size=8\n'm' type_id=5 bits_offset=0\n"
                              "[5] PTR '' type_id=4\n");
    EXPECT_EQ(stub_hashes(*loop).size(), 5u);
    LooseHasher loose(*loop);
    for (uint32_t id = 1; id <= 5; ++id)
        loose.prototype(TypeId{id}, {});
}

// A typedef of a pointer to a function that takes this typedef, in three forms: types in one order,
// in another order, and with a second typedef and pointer that lead into the cycle.
TEST(StubHash, CyclesHashAlikeWhereverTheyBegin)
{
    TextBlob one = from_text("[1] TYPEDEF 'f' type_id=2\n[2] PTR '' type_id=3\n"
                             "[3] FUNC_PROTO '' ret_type_id=0\n'' type_id=1\n");
    TextBlob other = from_text("[1] FUNC_PROTO '' ret_type_id=0\n'' type_id=3\n"
                               "[2] PTR '' type_id=1\n[3] TYPEDEF 'f' type_id=2\n");
    TextBlob longer = from_text("[1] TYPEDEF 'f' type_id=2\n[2] PTR '' type_id=3\n"
                                "[3] FUNC_PROTO '' ret_type_id=0\n'' type_id=4\n"
                                "[4] TYPEDEF 'f' type_id=5\n[5] PTR '' type_id=3\n");
    EXPECT_EQ(stub_of(one, 1), stub_of(other, 3));
    EXPECT_EQ(stub_of(one, 2), stub_of(other, 2));
    EXPECT_EQ(stub_of(one, 3), stub_of(other, 1));
    EXPECT_EQ(stub_of(one, 1), stub_of(longer, 1));
    EXPECT_EQ(stub_of(one, 1), stub_of(longer, 4));
    EXPECT_FALSE(stub_of(one, 1) == stub_of(one, 2));
    // Here the second prototype of the cycle, type 6, returns 'f' instead of void.
    EXPECT_FALSE(stub_of(one, 1) ==
                 stub_of(from_text("[1] TYPEDEF 'f' type_id=2\n[2] PTR '' type_id=3\n"
                                   "[3] FUNC_PROTO '' ret_type_id=0\n'' type_id=4\n"
                                   "[4] TYPEDEF 'f' type_id=5\n[5] PTR '' type_id=6\n"
                                   "[6] FUNC_PROTO '' ret_type_id=1\n'' type_id=1\n"),
                         1));
}

/// btf-emit hashes the plain types first, then adds VARs and FUNCs that refer to them.
TEST(StubHash, CyclesHaveTheirHashesWhenVariablesAreAdded)
{
    constexpr std::string_view cycle = R"(
        [1] PTR '' type_id=2
        [2] FUNC_PROTO '' ret_type_id=0 vlen=1
            '(anon)' type_id=3
        [3] TYPEDEF 'f' type_id=1
    )";
    std::vector<Hash128> known = stub_hashes(*from_text(cycle));
    const TextBlob whole = from_text(std::string(cycle) + "[4] VAR 'v' type_id=3 linkage=static\n");
    complete_stub_hashes(*whole, known);
    EXPECT_EQ(stub_hashes(*whole, TypeId{4}), known);
    EXPECT_NE(stub_hashes(*whole), known);
    // In a damaged object, a plain type may refer to one that is not plain.
    EXPECT_EQ(stub_hashes(*whole, TypeId{2}).size(), 4u);
}

// Types 5 to 999 reach each other, and are so many that cycle_hashes() would take too long. The
// hash of each type that reaches a cycle then covers all types that reach a cycle (here also 1 to
// 4), and the type's number among them (common/FORMAT.md, 6).
TEST(StubHash, LongCyclesHashByAllTypes)
{
    auto hash = [](const char *last, uint32_t id, std::string_view more = {}) {
        std::string text = strf("[1] PTR '' type_id=2\n"
                                "[2] FUNC_PROTO '' ret_type_id=0\n'' type_id=5\n'' type_id=3\n"
                                "[3] PTR '' type_id=4\n"
                                "[4] FUNC_PROTO '' ret_type_id=0\n'' type_id=%s\n",
                                last);
        for (uint32_t i = 5; i < 1000; ++i)
            text += strf("[%u] TYPEDEF 't%u' type_id=%u\n", i, i, i < 999 ? i + 1 : 5);
        text += more;
        return stub_of(from_text(text), id);
    };
    for (uint32_t id : {1, 6}) { // 6 does not reach the change
        EXPECT_EQ(hash("1", id), hash("1", id, "[1000] TYPEDEF 'number' type_id=0\n"));
        EXPECT_FALSE(hash("1", id) == hash("3", id));
    }
}

// These values were computed with xxhsum, as common/FORMAT.md, 6, describes. Stub hashes are part
// of the formats of objects and of base indexes, so all versions of btflink must compute the same
// ones. (If these values ever changed, trailer_version in common/object_btf/link_trailer.h and
// `version` in merge/base_index/layout.h would have to change.)
TEST(StubHash, HashesOfTheFormat)
{
    TextBlob blob = from_text(graph);
    std::string all;
    for (const Hash128 &h : stub_hashes(*blob))
        all += strf("%016" PRIx64 "%016" PRIx64 "\n", h.high, h.low);
    EXPECT_EQ(all, "c2e77be8087248955165b6f712f11e37\n"
                   "c674557e5f429cd3496b942abc6ffafd\n"
                   "02fa3ce13cad7693d5544593d91c8372\n"
                   "3dfc55780a17076d5ff2dbaa683c4841\n"
                   "b6ddc6e0ed9574fd23f0cc05244d14b5\n");
    TextBlob cycle = from_text("[1] TYPEDEF 'f' type_id=2\n[2] PTR '' type_id=3\n"
                               "[3] FUNC_PROTO '' ret_type_id=0\n'' type_id=1\n");
    EXPECT_EQ(strf("%016" PRIx64, stub_of(cycle, 1).low), "3cb1e9789b1bf068");
}

TEST(StubHash, LongChainsNeedNoStack)
{
    std::string text;
    constexpr uint32_t length = 200000;
    for (uint32_t id = 1; id < length; ++id)
        text += strf("[%u] PTR '' type_id=%u\n", id, id + 1);
    text += strf("[%u] PTR '' type_id=0\n", length);
    TextBlob chain = from_text(text);
    EXPECT_FALSE(stub_of(chain, 1) == stub_of(chain, 2));
    LooseHasher loose(*chain);
    EXPECT_NE(loose.prototype(TypeId{1}, {}), loose.prototype(TypeId{2}, {}));
}

TEST(StubHash, SplitHashesItsOwnTypes)
{
    TextBlob base = from_text(graph);
    TextBlob split = from_text("[6] CONST '' type_id=3\n", base.btf);
    auto hashes = stub_hashes(*split);
    ASSERT_EQ(hashes.size(), 1u);
    EXPECT_EQ(hashes[0], stub_of(base, 4));
}

// The types of the LooseHash tests, which refer to them by id.
constexpr std::string_view loose_types = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] CONST '' type_id=1
    [3] PTR '' type_id=1
    [4] PTR '' type_id=2
    [5] CONST '' type_id=0
    [6] PTR '' type_id=0
    [7] PTR '' type_id=5
    [8] STRUCT 's' size=4
    [9] STRUCT 's' size=8
    [10] FWD 's' fwd_kind=struct
    [11] UNION 's' size=4
    [12] FWD 's' fwd_kind=union
    [13] TYPEDEF 't' type_id=1
    [14] TYPEDEF 't' type_id=3
    [15] ENUM 'e' size=4 encoding=UNSIGNED
        'A' val=1
    [16] ENUM 'e' size=1 encoding=SIGNED
    [17] ENUM64 'e' size=8 encoding=UNSIGNED
    [18] FUNC_PROTO '' ret_type_id=0
        'a' type_id=3
    [19] FUNC_PROTO '' ret_type_id=0
        'b' type_id=4
    [20] FUNC_PROTO '' ret_type_id=1
        'a' type_id=3
    [21] VOLATILE '' type_id=1
    [22] RESTRICT '' type_id=3
    [23] TYPE_TAG 'user' type_id=1
    [24] TYPE_TAG 'rcu' type_id=1
    [25] ARRAY '' type_id=1 index_type_id=1 nr_elems=2
    [26] ARRAY '' type_id=1 index_type_id=13 nr_elems=2
    [27] ARRAY '' type_id=1 index_type_id=1 nr_elems=3
    [28] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=(none)
    [29] INT 'long' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [30] FLOAT 'float' size=4
    [31] FLOAT 'float' size=8
    [32] CONST '' type_id=2
    [33] CONST '' type_id=5
    [34] STRUCT '' size=4
    [35] STRUCT '' size=8
)";

class LooseHash : public testing::Test
{
protected:
    uint64_t result(uint32_t id) { return hasher_.prototype(TypeId{id}, {}); }
    uint64_t param(uint32_t id)
    {
        TypeId params[] = {TypeId{id}};
        return hasher_.prototype(void_id, params);
    }
    void same(uint32_t a, uint32_t b) { EXPECT_EQ(result(a), result(b)) << a << ", " << b; }
    void differ(uint32_t a, uint32_t b) { EXPECT_NE(result(a), result(b)) << a << ", " << b; }

    TextBlob blob_ = from_text(loose_types);
    LooseHasher hasher_{*blob_};
};

TEST_F(LooseHash, ConstIsTransparentButConstVoidIsNotVoid)
{
    same(1, 2);
    same(3, 4);
    same(1, 32);
    differ(5, 0);
    differ(6, 7);
    differ(33, 0);
    same(33, 5);
    differ(1, 21);
    differ(3, 22);
    differ(1, 23);
    same(23, 24); // the tag's text does not count
}

TEST_F(LooseHash, NamesStandForStructs)
{
    same(8, 9);
    same(8, 10);
    same(11, 12);
    differ(8, 11);
    same(13, 14);
    differ(13, 1);
    same(15, 16);
    differ(15, 17);
    same(34, 35);
}

TEST_F(LooseHash, PrototypesArraysAndScalars)
{
    same(18, 19);
    differ(18, 20);
    same(25, 26);
    differ(25, 27);
    differ(1, 28);
    differ(1, 29);
    differ(30, 31);
    differ(1, 30);
}

TEST_F(LooseHash, NumberAndOrderOfParameters)
{
    EXPECT_NE(result(1), param(1));
    TypeId ab[] = {TypeId{1}, TypeId{3}}, ba[] = {TypeId{3}, TypeId{1}};
    TypeId variadic[] = {TypeId{1}, void_id}, one[] = {TypeId{1}};
    EXPECT_NE(hasher_.prototype(void_id, ab), hasher_.prototype(void_id, ba));
    EXPECT_NE(hasher_.prototype(void_id, variadic), hasher_.prototype(void_id, one));
}

TEST_F(LooseHash, OtherIdsSameHash)
{
    TextBlob other = from_text("[1] PTR '' type_id=2\n[2] FWD 's' fwd_kind=struct\n");
    TextBlob here = from_text("[1] STRUCT 's' size=77\n[2] PTR '' type_id=1\n");
    EXPECT_EQ(LooseHasher(*other).prototype(TypeId{1}, {}),
              LooseHasher(*here).prototype(TypeId{2}, {}));
}

} // namespace

} // namespace btflink::test
