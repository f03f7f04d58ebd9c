// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests text_to_btf() and btf_to_text(): unusual values, short forms, names, errors.
// btf_builder_test.cc tests the text of valid types of all kinds.
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

std::string round_trip(std::string_view text)
{
    return btf_to_text(*from_text(text));
}

std::string parse_error(std::string_view text)
{
    return error_of(text_to_btf(text, Where{"t"}));
}

TEST(BtfText, InvalidValuesAreKept)
{
    constexpr std::string_view text =
        "[1] INT 'i' size=3 bits_offset=200 nr_bits=40000 encoding=129 vlen=7 kflag=1\n"
        "[2] PTR 'name' type_id=0 vlen=1\n"
        "[3] ARRAY 'a' size=12 type_id=0 index_type_id=0 nr_elems=4294967295\n"
        "[4] STRUCT '(anon)' size=0 vlen=0 kflag=1\n"
        "[5] STRUCT '(anon)' size=0 vlen=1\n"
        "\t'(anon)' type_id=0 bits_offset=4294967295\n"
        "[6] ENUM '(anon)' size=77 encoding=SIGNED vlen=1\n"
        "\t'(anon)' val=-2147483648\n"
        "[7] ENUM64 '(anon)' size=77 encoding=SIGNED vlen=1\n"
        "\t'(anon)' val=-9223372036854775808\n"
        "[8] FWD '(anon)' size=1 fwd_kind=struct\n"
        "[9] FUNC 'f' type_id=1 linkage=9 kflag=1\n"
        "[10] VAR 'v' type_id=0 linkage=extern\n"
        "[11] DATASEC '(anon)' size=0 vlen=1 kflag=1\n"
        "\ttype_id=1 offset=4294967295 size=0\n"
        "[12] DECL_TAG '(anon)' type_id=0 component_idx=-2147483648 vlen=3\n"
        "[13] FUNC_PROTO 'p' ret_type_id=0 vlen=0 kflag=1\n";
    EXPECT_EQ(round_trip(text), text);
}

TEST(BtfText, ShortFormsAreRead)
{
    EXPECT_EQ(round_trip("# a comment\r\n"
                         "\n"
                         "   [1] STRUCT '' size=8 # another\n"
                         "  'a#b' bits_offset=0x20 type_id=2\r\n"
                         "'b' type_id=2 bits_offset=0\n"
                         "[2] ENUM 'e' encoding=0 size=4"),
              "[1] STRUCT '(anon)' size=8 vlen=2\n"
              "\t'a#b' type_id=2 bits_offset=32\n"
              "\t'b' type_id=2 bits_offset=0\n"
              "[2] ENUM 'e' size=4 encoding=UNSIGNED vlen=0\n");
    EXPECT_EQ(round_trip(""), "");
}

TEST(BtfText, AnyNameCanBeWritten)
{
    for (const char *name : {"it's", "back\\slash", "tab\there", "(anon)", "\x01\x7f\xff", "a # b",
                             "\\x41", "new\nline", "'"}) {
        std::string escaped;
        for (const char *c = name; *c; ++c)
            escaped += strf("\\x%02x", static_cast<unsigned char>(*c));
        TextBlob blob = from_text("[1] TYPE_TAG '" + escaped + "' type_id=0");
        EXPECT_EQ(blob->name(TypeId{1}), name);
        TextBlob again = from_text(btf_to_text(*blob));
        EXPECT_EQ(again->name(TypeId{1}), name);
    }
}

TEST(BtfText, SplitContinuesTheIdsOfItsBase)
{
    TextBlob base = from_text("[1] FWD 'a' fwd_kind=struct\n");
    constexpr std::string_view text = "[2] PTR '(anon)' type_id=1\n[3] FWD 'b' fwd_kind=struct\n";
    EXPECT_EQ(btf_to_text(*from_text(text, base.btf)), text);
    auto wrong = text_to_btf("[1] PTR '' type_id=1", Where{"t"}, host_order, base.btf.get());
    EXPECT_EQ(error_of(wrong), "t+0x1: id is 1, must be 2");
}

TEST(BtfText, ErrorsNameTheLine)
{
    EXPECT_EQ(parse_error("\n\n[2] PTR '' type_id=1"), "t+0x3: id is 2, must be 1");
    EXPECT_EQ(parse_error("[1 PTR '' type_id=1"), "t+0x1: '[ID]' is not closed");
    EXPECT_EQ(parse_error("[x] PTR '' type_id=1"), "t+0x1: id: 'x' is not a number that fits");
    EXPECT_EQ(parse_error("[1] POINTER '' type_id=1"), "t+0x1: 'POINTER' is not a kind of type");
    EXPECT_EQ(parse_error("[1] PTR type_id=1"), "t+0x1: a name in single quotes is missing");
    EXPECT_EQ(parse_error("[1] PTR 'a type_id=1"), "t+0x1: a name is not closed by a single quote");
    EXPECT_EQ(parse_error("[1] PTR '\\xzz' type_id=1"),
              "t+0x1: \\x takes two hexadecimal digits, not both 0");
    EXPECT_EQ(parse_error("[1] PTR ''"), "t+0x1: field type_id= is missing");
    EXPECT_EQ(parse_error("[1] PTR '' type_id=1 size=4"),
              "t+0x1: field size= does not belong here");
    EXPECT_EQ(parse_error("[1] PTR '' type_id=1 type_id=1"),
              "t+0x1: field type_id= does not belong here");
    EXPECT_EQ(parse_error("[1] PTR '' type_id=1 oops"), "t+0x1: 'oops' is not KEY=VALUE");
    EXPECT_EQ(parse_error("[1] PTR '' type_id=4294967296"),
              "t+0x1: type_id: '4294967296' is not a number that fits");
    EXPECT_EQ(parse_error("[1] PTR '' type_id="), "t+0x1: type_id: '' is not a number that fits");
    EXPECT_EQ(parse_error("[1] FUNC 'f' type_id=1 linkage=odd"),
              "t+0x1: linkage: 'odd' is not a number that fits");
    EXPECT_EQ(parse_error("[1] PTR '' type_id=0 kflag=2"), "t+0x1: kflag= is more than 1");
    EXPECT_EQ(parse_error("[1] INT '' size=4 bits_offset=256 nr_bits=1 encoding=0"),
              "t+0x1: bits_offset= is more than 255");
    EXPECT_EQ(parse_error("'m' type_id=1"),
              "t+0x1: an element, but not after a type that has elements");
    EXPECT_EQ(parse_error("[1] PTR '' type_id=0\n'm' type_id=1"),
              "t+0x2: an element, but not after a type that has elements");
    EXPECT_EQ(parse_error("[1] ENUM '' size=4 encoding=SIGNED vlen=2\n'm' val=-2147483649"),
              "t+0x2: val: '-2147483649' is not a number that fits");
    EXPECT_EQ(parse_error("[1] ENUM '' size=4 encoding=SIGNED vlen=2\n'm' val=1\n# end"),
              "t+0x1: vlen is 2, but 1 elements follow");
    EXPECT_EQ(parse_error("[1] STRUCT '' size=4\n'm' type_id=1 bits_offset=0 bitfield_size=1"),
              "t+0x2: bitfield_size= is more than 0");
}

} // namespace

} // namespace btflink::test
