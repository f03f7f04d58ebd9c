// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests StringTable, and BtfBuilder, whose blobs are parsed again and mostly compared as text.
#include "common/btf/btf_builder.h"
#include "tests/unit/text_blob.h"

#include <set>

namespace btflink::test
{

namespace
{

TEST(StringTable, KeepsEachStringOnce)
{
    StringTable table;
    EXPECT_EQ(table.add(""), StrOff{0});
    StrOff a = table.add("alpha");
    EXPECT_EQ(a, StrOff{1});
    EXPECT_EQ(table.add("beta"), StrOff{7});
    EXPECT_EQ(table.add("alpha"), a);
    EXPECT_EQ(table.at(a), "alpha");
    EXPECT_EQ(table.blob(), std::string("\0alpha\0beta\0", 12));
    EXPECT_EQ(table.add(std::string_view("alpha\0x", 7)), a);
}

TEST(StringTable, ContinuesAnother)
{
    StringTable table(100);
    EXPECT_EQ(table.add(""), StrOff{0});
    EXPECT_EQ(table.add("x"), StrOff{100});
    EXPECT_EQ(table.add("y"), StrOff{102});
    EXPECT_EQ(table.at(StrOff{102}), "y");
}

TEST(StringTable, Grows)
{
    StringTable table;
    std::vector<StrOff> offsets;
    std::set<uint32_t> distinct;
    for (int i = 0; i < 10000; ++i) {
        offsets.push_back(table.add(strf("name%d", i)));
        distinct.insert(raw(offsets.back()));
    }
    EXPECT_EQ(distinct.size(), offsets.size());
    for (int i = 0; i < 10000; ++i) {
        EXPECT_EQ(table.add(strf("name%d", i)), offsets[i]);
        EXPECT_EQ(table.at(offsets[i]), strf("name%d", i));
    }
}

BtfBuilder every_kind()
{
    BtfBuilder b;
    TypeId i = b.add_int("int", 4, BTF_INT_SIGNED);
    TypeId s = TypeId{raw(b.next_id()) + 1}; // forward reference
    TypeId p = b.add_ref(btf::Kind::PTR, "", s);
    EXPECT_EQ(b.add_composite(btf::Kind::STRUCT, "s", 16, true), s);
    b.add_member("bits", i, 3u << 24);
    b.add_member("next", p, 64);
    b.add_array(i, i, 4);
    b.add_enum(btf::Kind::ENUM, "e", 4, true);
    b.add_enumerator("minus", static_cast<uint64_t>(-1));
    b.add_enum(btf::Kind::ENUM64, "", 8, false);
    b.add_enumerator("big", 0x123456789abcdef0);
    b.add_fwd("u", true);
    TypeId proto = b.add_func_proto(void_id);
    b.add_param("p", p);
    b.add_param("", void_id);
    TypeId f = b.add_func("f", proto, BTF_FUNC_GLOBAL);
    TypeId v = b.add_var("v", s, BTF_VAR_GLOBAL_ALLOCATED);
    b.add_datasec(".data", 32);
    b.add_secinfo(v, 8, 16);
    b.add_float("double", 8);
    b.add_decl_tag("tag", f, 0);
    b.add_decl_tag("self", f, -1, true);
    b.add_ref(btf::Kind::TYPE_TAG, "user", i, true);
    b.add_ref(btf::Kind::TYPEDEF, "t", i);
    b.add_composite(btf::Kind::UNION, "empty", 0, false);
    for (btf::Kind kind : {btf::Kind::CONST, btf::Kind::VOLATILE, btf::Kind::RESTRICT})
        b.add_ref(kind, "", p);
    return b;
}

constexpr std::string_view every_kind_text =
    R"([1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
[2] PTR '(anon)' type_id=3
[3] STRUCT 's' size=16 vlen=2 kflag=1
	'bits' type_id=1 bits_offset=0 bitfield_size=3
	'next' type_id=2 bits_offset=64
[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=4
[5] ENUM 'e' size=4 encoding=SIGNED vlen=1
	'minus' val=-1
[6] ENUM64 '(anon)' size=8 encoding=UNSIGNED vlen=1
	'big' val=1311768467463790320
[7] FWD 'u' fwd_kind=union
[8] FUNC_PROTO '(anon)' ret_type_id=0 vlen=2
	'p' type_id=2
	'(anon)' type_id=0
[9] FUNC 'f' type_id=8 linkage=global
[10] VAR 'v' type_id=3 linkage=global
[11] DATASEC '.data' size=32 vlen=1
	type_id=10 offset=8 size=16
[12] FLOAT 'double' size=8
[13] DECL_TAG 'tag' type_id=9 component_idx=0
[14] DECL_TAG 'self' type_id=9 component_idx=-1 kflag=1
[15] TYPE_TAG 'user' type_id=1 kflag=1
[16] TYPEDEF 't' type_id=1
[17] UNION 'empty' size=0 vlen=0
[18] CONST '(anon)' type_id=2
[19] VOLATILE '(anon)' type_id=2
[20] RESTRICT '(anon)' type_id=2
)";

TEST(BtfBuilder, EveryKindInBothByteOrders)
{
    BtfBuilder b = every_kind();
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        auto bytes = b.serialize(order);
        auto btf = Btf::parse(bytes, Where{"f"});
        ASSERT_TRUE(btf) << btf.error().str();
        EXPECT_EQ(btf->order(), order);
        EXPECT_EQ(btf->blob_size(), bytes.size());
        EXPECT_EQ(btf_to_text(*btf), every_kind_text);
    }
}

TEST(BtfBuilder, TypesCanBeChangedAndCopied)
{
    BtfBuilder b = every_kind();
    b.type(TypeId{2}).type = 1;
    b.type(TypeId{16}).name_off = raw(b.str("renamed"));
    auto bytes = b.serialize(host_order);
    auto btf = Btf::parse(bytes, Where{"f"}).value();
    EXPECT_EQ(type_to_text(btf, TypeId{2}), "[2] PTR '(anon)' type_id=1\n");
    EXPECT_EQ(btf.name(TypeId{16}), "renamed");
    EXPECT_EQ(b.word_index(TypeId{2}), btf.word_index(TypeId{2}));
    EXPECT_EQ(b.words(), btf.words().size());
    EXPECT_EQ(b.string_bytes(), btf.str_size());
    TypeId copy = b.add_words(btf.words().subspan(btf.word_index(TypeId{2}), 3));
    EXPECT_EQ(copy, TypeId{21});
}

TEST(BtfBuilder, SplitBlobs)
{
    auto base_bytes = every_kind().serialize(host_order);
    auto base = std::make_shared<const Btf>(Btf::parse(base_bytes, Where{"base"}).value());
    BtfBuilder b(base->end_id(), base->str_size());
    EXPECT_EQ(b.next_id(), TypeId{21});
    TypeId p = b.add_ref(btf::Kind::PTR, "", TypeId{3});
    b.add_ref(btf::Kind::TYPEDEF, "new", p);
    auto bytes = b.serialize(host_order);
    auto btf = Btf::parse(bytes, Where{"split"}, base);
    ASSERT_TRUE(btf) << btf.error().str();
    EXPECT_EQ(btf_to_text(*btf), "[21] PTR '(anon)' type_id=3\n[22] TYPEDEF 'new' type_id=21\n");
}

TEST(BtfBuilder, TooManyElementsAreNoticed)
{
    BtfBuilder b;
    b.add_enum(btf::Kind::ENUM, "e", 4, false);
    for (int i = 0; i < 0xffff; ++i)
        b.add_enumerator("x", 0);
    EXPECT_FALSE(b.too_large());
    b.add_enumerator("x", 0);
    EXPECT_TRUE(b.too_large());
    auto bytes = b.serialize(host_order);
    auto btf = Btf::parse(bytes, Where{"f"});
    ASSERT_TRUE(btf);
    EXPECT_EQ(btf::vlen_of(btf->type(TypeId{1})), 0xffffu);
}

} // namespace

} // namespace btflink::test
