// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests check_btf(), the check by the kernel's rules: its error must name the rule that a text
// violates. Also tests TypeSizes.
#include "common/btf/btf_check.h"
#include "common/btf/btf_check_rules.h"
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

/// Types to which the texts for verdict() refer. The types in these texts have ids from 11 on.
constexpr std::string_view prelude = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] PTR '' type_id=0
    [3] STRUCT 'pair' size=8
        'a' type_id=1 bits_offset=0
        'b' type_id=1 bits_offset=32
    [4] FUNC_PROTO '' ret_type_id=0
        'p' type_id=1
    [5] FUNC 'func' type_id=4 linkage=static
    [6] VAR 'var' type_id=3 linkage=global
    [7] FWD 'fwd' fwd_kind=struct
    [8] ENUM 'color' size=4 encoding=UNSIGNED
        'RED' val=0
    [9] FLOAT 'double' size=8
    [10] INT 'odd' size=4 bits_offset=3 nr_bits=5 encoding=(none)
)";

/// The error for the prelude followed by `text`, without the place; "" if there is no error.
std::string verdict(std::string_view text, uint32_t pointer_size = 8)
{
    TextBlob blob = from_text(std::string(prelude) + std::string(text));
    auto result = check_btf(*blob.bytes, *blob, Where{"f"}, pointer_size);
    return result ? "" : result.error().what;
}

TEST(BtfCheck, ValidTypesPass)
{
    EXPECT_EQ(verdict(""), "");
    EXPECT_EQ(verdict(R"(
        [11] STRUCT '' size=16 kflag=1
            'low' type_id=1 bits_offset=0 bitfield_size=3
            'high' type_id=1 bits_offset=3 bitfield_size=32
            '' type_id=13 bits_offset=64
            'flexible' type_id=12 bits_offset=128
        [12] ARRAY '' type_id=1 index_type_id=1 nr_elems=0
        [13] UNION '' size=8
            'p' type_id=14 bits_offset=0
            'd' type_id=9 bits_offset=0
        [14] PTR '' type_id=11
        [15] TYPE_TAG 'user' type_id=16
        [16] CONST '' type_id=17
        [17] TYPEDEF 'pair_t' type_id=3
        [18] PTR '' type_id=15
        [19] DECL_TAG 'tag' type_id=5 component_idx=0
        [20] DECL_TAG 'tag' type_id=17 component_idx=-1
        [21] DATASEC '.data..percpu/x' size=16
            type_id=6 offset=8 size=8
        [22] FUNC_PROTO '' ret_type_id=18
            '' type_id=3
            '' type_id=0
        [23] STRUCT 'old' size=4
            'bits' type_id=10 bits_offset=1
        [24] ENUM64 '.L_x.9' size=1 encoding=SIGNED
        [25] CONST '' type_id=0
    )"),
              "");
}

TEST(BtfCheck, ErrorsSayWhere)
{
    TextBlob blob = from_text("[1] INT 'i' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
                              "[2] STRUCT 's' size=8\n'a' type_id=1 bits_offset=0\n"
                              "'b' type_id=1 bits_offset=33\n");
    auto result = check_btf(*blob.bytes, *blob, Where{"f.o", ".BTF", 0x1000});
    // Bytes: 24 of the header, 16 of the INT, 12 of the STRUCT, 12 of member a.
    EXPECT_EQ(error_of(result), "f.o: .BTF+0x1040: type 2 (STRUCT 's'): member 1 'b': "
                                "ends at bit 65, but the struct has 8 bytes");
    blob = from_text("[1] FWD 'a b' fwd_kind=struct\n");
    EXPECT_EQ(error_of(check_btf(*blob.bytes, *blob, Where{"f"})),
              "f+0x18: type 1 (FWD 'a b'): name is not an identifier");
}

TEST(BtfCheck, Header)
{
    auto with = [](auto change) {
        auto bytes = *from_text(prelude).bytes;
        change(bytes);
        auto btf = Btf::parse(bytes, Where{"f"});
        return btf ? error_of(check_btf(bytes, *btf, Where{"f"})) : "parse: " + error_of(btf);
    };
    using Blob = std::vector<std::byte>;
    auto put = [](Blob &b, size_t at, uint32_t v) { store(b.data() + at, v, host_order); };
    EXPECT_EQ(with([](Blob &b) { b[3] = std::byte{1}; }), "f+0x3: BTF header: flags are not 0");
    auto longer = [&](Blob &b, std::byte filling) {
        b.insert(b.begin() + 24, 8, filling);
        put(b, 4, 32);
    };
    EXPECT_EQ(with([&](Blob &b) { longer(b, std::byte{0}); }), "");
    EXPECT_EQ(with([&](Blob &b) {
                  longer(b, std::byte{0});
                  b[24] = std::byte{1}; // layout_off is set, but layout_len is 0
              }),
              "f+0x18: BTF header: unknown fields are not 0");
    EXPECT_EQ(with([&](Blob &b) {
                  longer(b, std::byte{0});
                  b.insert(b.begin() + 32, 4, std::byte{0});
                  put(b, 4, 36);
                  b[35] = std::byte{1};
              }),
              "f+0x23: BTF header: unknown fields are not 0");
    EXPECT_EQ(with([&](Blob &b) {
                  b.insert(b.begin() + 24, 4, std::byte{0});
                  put(b, 8, 4);
                  put(b, 16, load<uint32_t>(b.data() + 16, host_order) + 4);
              }),
              "f+0x8: BTF header: types do not begin right after the header");
    EXPECT_EQ(with([&](Blob &b) {
                  auto strings = load<uint32_t>(b.data() + 16, host_order);
                  b.insert(b.begin() + 24 + strings, 4, std::byte{0});
                  put(b, 16, strings + 4);
              }),
              "f+0x10: BTF header: strings do not begin where types end");
    EXPECT_EQ(with([](Blob &b) { b.push_back(std::byte{0}); }),
              "f+0x10: BTF header: strings do not end where the blob ends");
    EXPECT_EQ(with([&](Blob &b) {
                  auto strings = load<uint32_t>(b.data() + 20, host_order);
                  b.resize(b.size() + (17u << 20));
                  put(b, 20, strings + (17u << 20));
              }),
              "f+0x14: BTF header: strings are longer than 16 MB");
    TextBlob empty = from_text("");
    EXPECT_EQ(error_of(check_btf(*empty.bytes, *empty, Where{"f"})),
              "f+0xc: BTF header: there are no types");
    TextBlob base = from_text(prelude);
    TextBlob split = from_text("", base.btf);
    EXPECT_EQ(error_of(check_btf(*split.bytes, *split, Where{"f"})), "");
}

TEST(BtfCheck, NumberOfTypes)
{
    std::string text = "[1] FWD 'a' fwd_kind=struct\n";
    for (uint32_t id = 2; id <= btf::max_type_id; ++id)
        text += "[" + std::to_string(id) + "] PTR '' type_id=1\n";
    TextBlob most = from_text(text);
    EXPECT_EQ(error_of(check_btf(*most.bytes, *most, Where{"f"})), "");
    TextBlob more = from_text("[1048576] PTR '' type_id=1\n", most.btf);
    EXPECT_EQ(error_of(check_btf(*more.bytes, *more, Where{"f"})),
              "f+0xc: BTF header: there are more than 1048575 types");
}

/// A blob with a layout section between types and strings: `length` bytes without a meaning. The
/// blob's header says that the section begins `begin` bytes after the end of the types.
std::vector<std::byte> with_layout(std::string_view text, uint32_t length, uint32_t begin = 0)
{
    auto bytes = *from_text(text).bytes;
    auto word = [&](size_t at) { return load<uint32_t>(bytes.data() + at, host_order); };
    const uint32_t type_len = word(12);
    store(bytes.data() + 4, uint32_t{32}, host_order);
    store(bytes.data() + 16, type_len + length, host_order);
    bytes.insert(bytes.begin() + 24 + type_len, length, std::byte{4});
    bytes.insert(bytes.begin() + 24, 8, std::byte{0});
    store(bytes.data() + 24, type_len + begin, host_order);
    store(bytes.data() + 28, length, host_order);
    return bytes;
}

TEST(BtfCheck, Layout)
{
    const std::string newer =
        std::string(prelude) +
        "[11] STRUCT 'btf_layout' size=1\n'info_sz' type_id=10 bits_offset=0\n"
        "[12] STRUCT 'btf_verifier_env' size=1\n";
    auto verdict_of = [](const std::vector<std::byte> &bytes) {
        auto btf = Btf::parse(bytes, Where{"f"});
        return btf ? error_of(check_btf(bytes, *btf, Where{"f"})) : "parse: " + error_of(btf);
    };
    EXPECT_EQ(verdict_of(with_layout(newer, 80)), "");
    const std::string older = std::string(prelude) + "[11] STRUCT 'btf_verifier_env' size=1\n";
    EXPECT_EQ(
        verdict_of(with_layout(older, 80)),
        "f+0x18: BTF header: has a layout section, but its types are those of a kernel without "
        "struct btf_layout, which refuses such sections");
    EXPECT_EQ(verdict_of(with_layout(prelude, 80)), ""); // BTF of a program: the kernel is unknown
    EXPECT_EQ(verdict_of(with_layout(newer, 80, 4)),
              "f+0x18: BTF header: the layout does not begin where types end");
    EXPECT_EQ(verdict_of(with_layout(newer, 78)),
              "f+0x1c: BTF header: length of the layout is not a multiple of 4");
    auto bytes = with_layout(newer, 80);
    store(bytes.data() + 28, uint32_t{76}, host_order);
    EXPECT_EQ(verdict_of(bytes), "f+0x10: BTF header: strings do not begin where the layout ends");
    bytes = with_layout(newer, 80);
    auto btf = Btf::parse(bytes, Where{"f"});
    ASSERT_TRUE(btf);
    EXPECT_EQ(btf_to_text(*btf), btf_to_text(*from_text(newer)));
}

/// From 65,536 on, the number of elements does not fit into the 16 bits that all kernels read.
TEST(BtfCheck, LongCounts)
{
    auto text = [](uint32_t id, uint32_t count) {
        std::string all = "[" + std::to_string(id) + "] ENUM 'big' size=4 encoding=UNSIGNED\n";
        for (uint32_t i = 0; i < count; ++i)
            all += "'e" + std::to_string(i) + "' val=" + std::to_string(i) + "\n";
        return all;
    };
    auto verdict_of = [](const TextBlob &blob) {
        return error_of(check_btf(*blob.bytes, *blob, Where{"f"}));
    };
    EXPECT_EQ(verdict_of(from_text(text(1, 0xffff))), "");
    TextBlob blob = from_text(text(1, 0x10001));
    EXPECT_EQ(btf::vlen_of(blob->type(TypeId{1})), 0x10001u);
    EXPECT_EQ(verdict_of(blob), "f+0x18: type 1 (ENUM 'big'): vlen is 65537, more than "
                                "BTF_MAX_VLEN; kernels without this enumerator read 65535 at "
                                "most");
    // An enumerator BTF_MAX_VLEN in the blob or in its base sets another limit.
    auto kernel = [&](uint32_t most, uint32_t first = 1) {
        return "[" + std::to_string(first) +
               "] ENUM 'btf_max' size=4 encoding=UNSIGNED\n"
               "'BTF_MAX_TYPE' val=1048575\n'BTF_MAX_VLEN' val=" +
               std::to_string(most) + "\n";
    };
    EXPECT_EQ(verdict_of(from_text(text(1, 0x10001) + kernel(0xffffff, 2))), "");
    TextBlob base = from_text(kernel(0xffffff));
    EXPECT_EQ(verdict_of(from_text(text(2, 0x10001), base.btf)), "");
    base = from_text(kernel(0x10000));
    EXPECT_EQ(verdict_of(from_text(text(2, 0x10000), base.btf)), "");
    EXPECT_NE(verdict_of(from_text(text(2, 0x10001), base.btf)), "");
    // Kinds without elements have an error of their own.
    EXPECT_EQ(verdict("[11] PTR '' type_id=1 vlen=65536"),
              "type 11 (PTR ''): vlen is 65536, must be 0");
}

struct Case {
    const char *text;
    const char *error;
};

class Rule : public testing::TestWithParam<Case>
{
};

TEST_P(Rule, IsEnforced)
{
    EXPECT_EQ(verdict(GetParam().text), GetParam().error);
}

#define CASES(name, ...)                                                                           \
    INSTANTIATE_TEST_SUITE_P(name, Rule, testing::ValuesIn(std::vector<Case>{__VA_ARGS__}))

CASES(Names, {"[11] FWD '' fwd_kind=struct", "type 11 (FWD ''): name is not an identifier"},
      {"[11] TYPEDEF '' type_id=1", "type 11 (TYPEDEF ''): name is not an identifier"},
      {"[11] TYPEDEF '9a' type_id=1", "type 11 (TYPEDEF '9a'): name is not an identifier"},
      {"[11] TYPEDEF 'a-b' type_id=1", "type 11 (TYPEDEF 'a-b'): name is not an identifier"},
      {"[11] TYPEDEF 'a\\xd7' type_id=1", "type 11 (TYPEDEF 'a\xd7'): name is not an identifier"},
      {"[11] TYPEDEF '\\xc3.a_9' type_id=1", ""},
      {"[11] VAR '' type_id=1 linkage=static", "type 11 (VAR ''): name is not an identifier"},
      {"[11] FUNC '' type_id=4 linkage=static", "type 11 (FUNC ''): name is not an identifier"},
      {"[11] STRUCT 'a b' size=0", "type 11 (STRUCT 'a b'): name is not an identifier"},
      {"[11] UNION 'a b' size=0", "type 11 (UNION 'a b'): name is not an identifier"},
      {"[11] ENUM 'a b' size=4 encoding=0", "type 11 (ENUM 'a b'): name is not an identifier"},
      {"[11] ENUM64 'a b' size=4 encoding=0", "type 11 (ENUM64 'a b'): name is not an identifier"},
      {"[11] PTR 'p' type_id=1", "type 11 (PTR 'p'): has a name"},
      {"[11] CONST 'p' type_id=1", "type 11 (CONST 'p'): has a name"},
      {"[11] VOLATILE 'p' type_id=1", "type 11 (VOLATILE 'p'): has a name"},
      {"[11] RESTRICT 'p' type_id=1", "type 11 (RESTRICT 'p'): has a name"},
      {"[11] ARRAY 'p' type_id=1 index_type_id=1 nr_elems=1", "type 11 (ARRAY 'p'): has a name"},
      {"[11] FUNC_PROTO 'p' ret_type_id=0", "type 11 (FUNC_PROTO 'p'): has a name"},
      {"[11] TYPE_TAG '' type_id=1", "type 11 (TYPE_TAG ''): tag is empty"},
      {"[11] DECL_TAG '' type_id=3 component_idx=-1", "type 11 (DECL_TAG ''): tag is empty"},
      {"[11] DATASEC '' size=4", "type 11 (DATASEC ''): name is empty or not printable"},
      {"[11] DATASEC 'a\\x09' size=4", "type 11 (DATASEC 'a\t'): name is empty or not printable"},
      {"[11] INT '0 any!' size=4 bits_offset=0 nr_bits=32 encoding=(none)", ""},
      {"[11] STRUCT 's' size=4\n'a b' type_id=1 bits_offset=0",
       "type 11 (STRUCT 's'): member 0 'a b': name is not an identifier"},
      {"[11] ENUM 'e' size=4 encoding=0\n'' val=1",
       "type 11 (ENUM 'e'): enumerator 0 '': name is not an identifier"},
      {"[11] ENUM64 'e' size=4 encoding=0\n'A' val=1\n'a b' val=1",
       "type 11 (ENUM64 'e'): enumerator 1 'a b': name is not an identifier"},
      {"[11] FUNC_PROTO '' ret_type_id=0\n'a b' type_id=1",
       "type 11 (FUNC_PROTO ''): parameter 0 'a b': name is not an identifier"});

TEST(BtfCheck, LengthOfNames)
{
    std::string longest(512, 'a');
    EXPECT_EQ(verdict("[11] FWD '" + longest + "' fwd_kind=union"), "");
    EXPECT_NE(verdict("[11] FWD '" + longest + "a' fwd_kind=union"), "");
    EXPECT_EQ(verdict("[11] DATASEC '" + longest + "' size=1"), "");
    EXPECT_NE(verdict("[11] DATASEC '" + longest + "a' size=1"), "");
}

CASES(Heads, {"[11] PTR '' type_id=1 vlen=1", "type 11 (PTR ''): vlen is 1, must be 0"},
      {"[11] FWD 'f' fwd_kind=struct vlen=2", "type 11 (FWD 'f'): vlen is 2, must be 0"},
      {"[11] FLOAT 'f' size=4 vlen=2", "type 11 (FLOAT 'f'): vlen is 2, must be 0"},
      {"[11] PTR '' type_id=1 kflag=1",
       "type 11 (PTR ''): kflag is set, must not be for this kind"},
      {"[11] INT '' size=4 bits_offset=0 nr_bits=32 encoding=0 kflag=1",
       "type 11 (INT ''): kflag is set, must not be for this kind"},
      {"[11] FUNC 'f' type_id=4 linkage=static kflag=1",
       "type 11 (FUNC 'f'): kflag is set, must not be for this kind"},
      {"[11] FUNC_PROTO '' ret_type_id=0 kflag=1",
       "type 11 (FUNC_PROTO ''): kflag is set, must not be for this kind"},
      {"[11] DATASEC 'd' size=1 kflag=1",
       "type 11 (DATASEC 'd'): kflag is set, must not be for this kind"},
      {"[11] TYPE_TAG 't' type_id=1 kflag=1", ""},
      {"[11] FWD 'f' fwd_kind=struct size=1", "type 11 (FWD 'f'): third word is 1, must be 0"},
      {"[11] ARRAY '' size=4 type_id=1 index_type_id=1 nr_elems=1",
       "type 11 (ARRAY ''): third word is 4, must be 0"});

CASES(Scalars,
      {"[11] INT '' size=4 bits_offset=0 nr_bits=33 encoding=0",
       "type 11 (INT ''): bits end at 33, size is 4 bytes"},
      {"[11] INT '' size=32 bits_offset=1 nr_bits=128 encoding=0",
       "type 11 (INT ''): bits end at 129, more than 128"},
      {"[11] INT '' size=4 bits_offset=0 nr_bits=32 encoding=3",
       "type 11 (INT ''): encoding 0x3 is not 0 or one of SIGNED, CHAR and BOOL"},
      {"[11] INT '' size=4 bits_offset=0 nr_bits=32 encoding=8",
       "type 11 (INT ''): encoding 0x8 is not 0 or one of SIGNED, CHAR and BOOL"},
      {"[11] INT '' size=4 bits_offset=0 nr_bits=32 encoding=16",
       "type 11 (INT ''): reserved bits are set (0x10000020)"},
      {"[11] FLOAT 'f' size=10", "type 11 (FLOAT 'f'): size is 10, must be 2, 4, 8, 12 or 16"},
      {"[11] ENUM 'e' size=3 encoding=0", "type 11 (ENUM 'e'): size is 3, must be 1, 2, 4 or 8"},
      {"[11] ENUM 'e' size=0 encoding=0", "type 11 (ENUM 'e'): size is 0, must be 1, 2, 4 or 8"},
      {"[11] ENUM64 'e' size=16 encoding=0",
       "type 11 (ENUM64 'e'): size is 16, must be 1, 2, 4 or 8"});

CASES(Arrays,
      {"[11] ARRAY '' type_id=0 index_type_id=1 nr_elems=1",
       "type 11 (ARRAY ''): element type is void"},
      {"[11] ARRAY '' type_id=1 index_type_id=0 nr_elems=1",
       "type 11 (ARRAY ''): index type is void"},
      {"[11] ARRAY '' type_id=1 index_type_id=2 nr_elems=1",
       "type 11 (ARRAY ''): index type is not an INT of regular size and offset"},
      {"[11] ARRAY '' type_id=1 index_type_id=10 nr_elems=1",
       "type 11 (ARRAY ''): index type is not an INT of regular size and offset"},
      {"[11] ARRAY '' type_id=10 index_type_id=1 nr_elems=1",
       "type 11 (ARRAY ''): element type is an INT of irregular size or offset"},
      {"[11] ARRAY '' type_id=7 index_type_id=1 nr_elems=1",
       "type 11 (ARRAY ''): element type has no size"},
      {"[11] ARRAY '' type_id=12 index_type_id=1 nr_elems=1\n[12] CONST '' type_id=0",
       "type 11 (ARRAY ''): element type has no size"},
      {"[11] ARRAY '' type_id=5 index_type_id=1 nr_elems=1",
       "type 11 (ARRAY ''): element type has no size"},
      {"[11] ARRAY '' type_id=3 index_type_id=1 nr_elems=536870911", ""},
      {"[11] ARRAY '' type_id=3 index_type_id=1 nr_elems=536870912",
       "type 11 (ARRAY ''): has 4 GB or more"});

CASES(Members,
      {"[11] STRUCT '' size=4\n'm' type_id=0 bits_offset=0",
       "type 11 (STRUCT ''): member 0 'm': type is void"},
      {"[11] STRUCT '' size=4\n'm' type_id=7 bits_offset=0",
       "type 11 (STRUCT ''): member 0 'm': type has no size"},
      {"[11] STRUCT '' size=4\n'm' type_id=12 bits_offset=0\n[12] TYPEDEF 't' type_id=4",
       "type 11 (STRUCT ''): member 0 'm': type has no size"},
      {"[11] STRUCT '' size=4\n'm' type_id=6 bits_offset=0",
       "type 11 (STRUCT ''): member 0 'm': type has no size"},
      {"[11] UNION '' size=8\n'm' type_id=1 bits_offset=32",
       "type 11 (UNION ''): member 0 'm': bit offset is 32, must be 0"},
      {"[11] STRUCT '' size=8\n'm' type_id=1 bits_offset=32\n'n' type_id=1 bits_offset=0",
       "type 11 (STRUCT ''): member 1 'n': bit offset is 0, but the member before has 32"},
      {"[11] STRUCT '' size=4\n'm' type_id=1 bits_offset=33",
       "type 11 (STRUCT ''): member 0 'm': bit offset is 33, but the struct has 4 bytes"},
      {"[11] STRUCT '' size=4\n'm' type_id=1 bits_offset=8",
       "type 11 (STRUCT ''): member 0 'm': ends at bit 40, but the struct has 4 bytes"},
      {"[11] UNION '' size=4\n'm' type_id=3 bits_offset=0",
       "type 11 (UNION ''): member 0 'm': ends at bit 64, but the union has 4 bytes"},
      {"[11] STRUCT '' size=12\n'm' type_id=2 bits_offset=4",
       "type 11 (STRUCT ''): member 0 'm': bit offset is 4, not a multiple of 8"},
      {"[11] STRUCT '' size=12\n'm' type_id=8 bits_offset=4",
       "type 11 (STRUCT ''): member 0 'm': bit offset is 4, not a multiple of 8"},
      {"[11] STRUCT '' size=12\n'm' type_id=3 bits_offset=4",
       "type 11 (STRUCT ''): member 0 'm': bit offset is 4, not a multiple of 8"},
      {"[11] STRUCT '' size=12\n'm' type_id=9 bits_offset=32",
       "type 11 (STRUCT ''): member 0 'm': FLOAT at bit offset 32 is not aligned"},
      {"[11] STRUCT '' size=4\n'm' type_id=12 bits_offset=0\n"
       "[12] ARRAY '' type_id=1 index_type_id=1 nr_elems=2",
       "type 11 (STRUCT ''): member 0 'm': ends at bit 64, but the struct has 4 bytes"});

CASES(
    Bitfields,
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=1 bits_offset=0 bitfield_size=33",
     "type 11 (STRUCT ''): member 0 'm': bitfield size is 33, its type allows 32"},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=8 bits_offset=0 bitfield_size=33",
     "type 11 (STRUCT ''): member 0 'm': bitfield size is 33, its type allows 32"},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=8 bits_offset=3 bitfield_size=2", ""},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=2 bits_offset=0 bitfield_size=3",
     "type 11 (STRUCT ''): member 0 'm': bitfield size is 3, its type allows 0"},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=3 bits_offset=0 bitfield_size=3",
     "type 11 (STRUCT ''): member 0 'm': bitfield size is 3, its type allows 0"},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=9 bits_offset=0 bitfield_size=3",
     "type 11 (STRUCT ''): member 0 'm': bitfield size is 3, its type allows 0"},
    {"[11] STRUCT '' size=4 kflag=1\n'm' type_id=10 bits_offset=0",
     "type 11 (STRUCT ''): member 0 'm': kflag is set, but the type is an INT of irregular size or "
     "offset"},
    {"[11] INT 'late' size=2 bits_offset=8 nr_bits=8 encoding=0\n"
     "[12] STRUCT '' size=536870928\n'm' type_id=11 bits_offset=4294967288",
     "type 12 (STRUCT ''): member 0 'm': bit offset is 4294967296, more than 32 bits can hold"},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=1 bits_offset=3",
     "type 11 (STRUCT ''): member 0 'm': bit offset is 3, not a multiple of 8"},
    {"[11] STRUCT '' size=8 kflag=1\n'm' type_id=8 bits_offset=3",
     "type 11 (STRUCT ''): member 0 'm': bit offset is 3, not a multiple of 8"},
    {"[11] STRUCT '' size=4 kflag=1\n'm' type_id=1 bits_offset=20 bitfield_size=13",
     "type 11 (STRUCT ''): member 0 'm': ends at bit 33, but the struct has 4 bytes"},
    {"[11] STRUCT '' size=3 kflag=1\n'm' type_id=12 bits_offset=0\n"
     "[12] ENUM '' size=1 encoding=UNSIGNED\n'A' val=0",
     ""},
    {"[11] STRUCT '' size=3 kflag=1\n'm' type_id=12 bits_offset=16\n"
     "[12] ENUM '' size=2 encoding=UNSIGNED\n'A' val=0",
     "type 11 (STRUCT ''): member 0 'm': ends at bit 32, but the struct has 3 bytes"},
    {"[11] STRUCT '' size=4 kflag=1\n'm' type_id=12 bits_offset=0\n"
     "[12] ENUM64 '' size=8 encoding=UNSIGNED\n'A' val=0",
     ""},
    {"[11] STRUCT '' size=4\n'm' type_id=10 bits_offset=28",
     "type 11 (STRUCT ''): member 0 'm': ends at bit 36, but the struct has 4 bytes"},
    {"[11] INT 'i' size=16 bits_offset=0 nr_bits=128 encoding=0\n"
     "[12] STRUCT '' size=32 kflag=1\n'm' type_id=11 bits_offset=1 bitfield_size=128",
     "type 12 (STRUCT ''): member 0 'm': bits span more than 16 bytes"});

CASES(Functions,
      {"[11] FUNC 'f' type_id=3 linkage=static",
       "type 11 (FUNC 'f'): refers to type 3, which is not a FUNC_PROTO"},
      {"[11] FUNC 'f' type_id=0 linkage=static",
       "type 11 (FUNC 'f'): refers to type 0, which is not a FUNC_PROTO"},
      {"[11] FUNC 'f' type_id=4 linkage=extern",
       "type 11 (FUNC 'f'): linkage is 2, must be static or global"},
      {"[11] FUNC 'f' type_id=12 linkage=static\n[12] FUNC_PROTO '' ret_type_id=0\n'' type_id=1",
       "type 11 (FUNC 'f'): parameter 0 has no name"},
      {"[11] FUNC 'f' type_id=12 linkage=static\n[12] FUNC_PROTO '' ret_type_id=0\n'' type_id=0",
       ""},
      {"[11] FUNC_PROTO '' ret_type_id=7", "type 11 (FUNC_PROTO ''): result type has no size"},
      {"[11] FUNC_PROTO '' ret_type_id=3", ""},
      {"[11] FUNC_PROTO '' ret_type_id=0\n'a' type_id=7",
       "type 11 (FUNC_PROTO ''): parameter 0 'a': type has no size"},
      {"[11] FUNC_PROTO '' ret_type_id=0\n'' type_id=0\n'a' type_id=1",
       "type 11 (FUNC_PROTO ''): parameter 0 '': type has no size"},
      {"[11] FUNC_PROTO '' ret_type_id=0\n'a' type_id=0",
       "type 11 (FUNC_PROTO ''): parameter 0 'a': '...' has a name"});

CASES(Variables, {"[11] VAR 'v' type_id=0 linkage=static", "type 11 (VAR 'v'): type is void"},
      {"[11] VAR 'v' type_id=7 linkage=static", "type 11 (VAR 'v'): type has no size"},
      {"[11] VAR 'v' type_id=6 linkage=static", "type 11 (VAR 'v'): type has no size"},
      {"[11] VAR 'v' type_id=1 linkage=extern",
       "type 11 (VAR 'v'): linkage is 2, must be static or global"},
      {"[11] DATASEC 'd' size=0", "type 11 (DATASEC 'd'): size is 0"},
      {"[11] DATASEC 'd' size=8\ntype_id=0 offset=0 size=8",
       "type 11 (DATASEC 'd'): entry 0: type is void"},
      {"[11] DATASEC 'd' size=8\ntype_id=3 offset=0 size=8",
       "type 11 (DATASEC 'd'): entry 0: type 3 is not a VAR"},
      {"[11] DATASEC 'd' size=8\ntype_id=6 offset=0 size=0",
       "type 11 (DATASEC 'd'): entry 0: size is 0"},
      {"[11] DATASEC 'd' size=8\ntype_id=6 offset=0 size=4",
       "type 11 (DATASEC 'd'): entry 0: size is 4, less than its variable's"},
      {"[11] DATASEC 'd' size=8\ntype_id=6 offset=1 size=8",
       "type 11 (DATASEC 'd'): entry 0: ends at 9, the section at 8"},
      {"[11] DATASEC 'd' size=8\ntype_id=6 offset=4294967295 size=8",
       "type 11 (DATASEC 'd'): entry 0: ends at 4294967303, the section at 8"},
      {"[11] DATASEC 'd' size=24\ntype_id=6 offset=8 size=8\ntype_id=6 offset=0 size=8",
       "type 11 (DATASEC 'd'): entry 1: offset is 0, the one before ends at 16"},
      {"[11] DATASEC 'd' size=24\ntype_id=6 offset=0 size=8\ntype_id=6 offset=7 size=8",
       "type 11 (DATASEC 'd'): entry 1: offset is 7, the one before ends at 8"});

CASES(Tags,
      {"[11] DECL_TAG 't' type_id=1 component_idx=-1",
       "type 11 (DECL_TAG 't'): refers to type 1, which cannot have declaration tags"},
      {"[11] DECL_TAG 't' type_id=0 component_idx=-1",
       "type 11 (DECL_TAG 't'): refers to type 0, which cannot have declaration tags"},
      {"[11] DECL_TAG 't' type_id=3 component_idx=-2",
       "type 11 (DECL_TAG 't'): component index is -2, must be -1 or more"},
      {"[11] DECL_TAG 't' type_id=3 component_idx=2",
       "type 11 (DECL_TAG 't'): component index is 2, but the target has 2 components"},
      {"[11] DECL_TAG 't' type_id=5 component_idx=1",
       "type 11 (DECL_TAG 't'): component index is 1, but the target has 1 components"},
      {"[11] DECL_TAG 't' type_id=6 component_idx=0",
       "type 11 (DECL_TAG 't'): component index is 0, but the target has 0 components"},
      {"[11] DECL_TAG 't' type_id=12 component_idx=0\n[12] TYPEDEF 'u' type_id=3",
       "type 11 (DECL_TAG 't'): component index is 0, but the target has 0 components"},
      {"[11] CONST '' type_id=12\n[12] TYPE_TAG 't' type_id=1", ""},
      {"[11] TYPE_TAG 't' type_id=12\n[12] TYPE_TAG 'u' type_id=1", ""});

CASES(References,
      {"[11] PTR '' type_id=6", "type 11 (PTR ''): refers to a VAR, which is not a type"},
      {"[11] PTR '' type_id=5", "type 11 (PTR ''): refers to a FUNC, which is not a type"},
      {"[11] CONST '' type_id=12\n[12] DECL_TAG 't' type_id=3 component_idx=-1",
       "type 11 (CONST ''): refers to a DECL_TAG, which is not a type"},
      {"[11] PTR '' type_id=12\n[12] DATASEC 'd' size=1",
       "type 11 (PTR ''): refers to a DATASEC, which is not a type"},
      {"[11] PTR '' type_id=7", ""}, {"[11] PTR '' type_id=4", ""});

CASES(Loops, {"[11] PTR '' type_id=11", "type 11 (PTR ''): is in a loop of pointers and modifiers"},
      {"[11] CONST '' type_id=12\n[12] PTR '' type_id=13\n[13] TYPEDEF 't' type_id=11",
       "type 11 (CONST ''): is in a loop of pointers and modifiers"},
      {"[11] PTR '' type_id=12\n[12] CONST '' type_id=13\n[13] VOLATILE '' type_id=12",
       "type 12 (CONST ''): is in a loop of pointers and modifiers"},
      {"[11] STRUCT '' size=8\n'm' type_id=11 bits_offset=0",
       "type 11 (STRUCT ''): is in a loop of structs, unions, arrays and modifiers"},
      {"[11] STRUCT '' size=8\n'm' type_id=12 bits_offset=0\n"
       "[12] ARRAY '' type_id=13 index_type_id=1 nr_elems=1\n[13] CONST '' type_id=11",
       "type 13 (CONST ''): is in a loop of structs, unions, arrays and modifiers"},
      {"[11] STRUCT '' size=8\n'm' type_id=12 bits_offset=0\n[12] PTR '' type_id=11", ""});

TEST(BtfCheck, ChainsOfModifiers)
{
    auto chain = [](uint32_t length) {
        std::string text;
        for (uint32_t i = 0; i < length; ++i)
            text += strf("[%u] CONST '' type_id=%u\n", 11 + i, i + 1 == length ? 1 : 12 + i);
        return verdict(text);
    };
    EXPECT_EQ(chain(32), "");
    EXPECT_EQ(chain(33), "type 11 (CONST ''): begins a chain of more than 32 modifiers");
}

TEST(BtfCheck, PointersOf32BitTargets)
{
    constexpr std::string_view text = "[11] STRUCT '' size=4\n'p' type_id=2 bits_offset=0";
    EXPECT_EQ(verdict(text, 4), "");
    EXPECT_NE(verdict(text, 8), "");
    // On 32-bit targets, a double may be aligned to 4 bytes.
    EXPECT_EQ(verdict("[11] STRUCT '' size=12\n'd' type_id=9 bits_offset=32", 4), "");
}

TEST(BtfCheck, BothByteOrders)
{
    TextBlob blob = from_text(std::string(prelude), nullptr, ByteOrder::big);
    EXPECT_EQ(error_of(check_btf(*blob.bytes, *blob, Where{"f"})), "");
}

TEST(BtfCheck, SplitIsCheckedOverItsBase)
{
    TextBlob base = from_text(prelude);
    TextBlob good = from_text("[11] STRUCT 's' size=8\n'm' type_id=3 bits_offset=0\n", base.btf);
    EXPECT_EQ(error_of(check_btf(*good.bytes, *good, Where{"f"})), "");
    TextBlob bad = from_text("[11] STRUCT 's' size=4\n'm' type_id=3 bits_offset=0\n", base.btf);
    EXPECT_EQ(
        error_of(check_btf(*bad.bytes, *bad, Where{"f"})),
        "f+0x24: type 11 (STRUCT 's'): member 0 'm': ends at bit 64, but the struct has 4 bytes");
}

TEST(BtfCheck, SectionsMayContainVariablesOfTheBase)
{
    TextBlob base = from_text(prelude);
    auto section_of = [&](const std::string &size) {
        TextBlob split =
            from_text("[11] DATASEC 'x' size=8\ntype_id=6 offset=0 size=" + size + "\n", base.btf);
        return error_of(check_btf(*split.bytes, *split, Where{"f"}));
    };
    EXPECT_EQ(section_of("8"), "");
    EXPECT_EQ(section_of("4"),
              "f+0x24: type 11 (DATASEC 'x'): entry 0: size is 4, less than its variable's");
}

TEST(BtfCheck, ErrorsInTheBaseNameTheBase)
{
    TextBlob base = from_text("[1] STRUCT 's' size=4\n'm' type_id=1 bits_offset=0\n");
    TextBlob split = from_text("[2] TYPEDEF 't' type_id=1\n", base.btf);
    EXPECT_EQ(error_of(check_btf(*split.bytes, *split, Where{"f"})),
              "f: type 1 (STRUCT 's') of its base: is in a loop of structs, unions, arrays and "
              "modifiers");
}

TEST(BtfCheck, FloatOfNoBytesInTheBase)
{
    TextBlob base = from_text("[1] FLOAT 'f' size=0\n");
    TextBlob split = from_text("[2] STRUCT 's' size=4\n'm' type_id=1 bits_offset=0\n", base.btf);
    EXPECT_EQ(error_of(check_btf(*split.bytes, *split, Where{"f"})),
              "f+0x24: type 2 (STRUCT 's'): member 0 'm': type is a FLOAT of no bytes");
}

TEST(TypeSizes, OfEverything)
{
    TextBlob blob = from_text(std::string(prelude) + R"(
        [11] ARRAY '' type_id=12 index_type_id=1 nr_elems=3
        [12] TYPEDEF 'pair_t' type_id=13
        [13] CONST '' type_id=3
        [14] TYPEDEF 'nothing' type_id=0
        [15] ARRAY '' type_id=7 index_type_id=1 nr_elems=3
        [16] DATASEC 'd' size=77
    )");
    auto sizes = TypeSizes::compute(*blob, Where{"f"}, 8).value();
    constexpr uint64_t none = TypeSizes::unsized;
    constexpr uint64_t expected[] = {none, 4, 8,  8, none, none, none, none, 4,
                                     8,    4, 24, 8, 8,    none, none, none};
    for (uint32_t id = 0; id < std::size(expected); ++id)
        EXPECT_EQ(sizes.of(TypeId{id}), expected[id]) << id;
    EXPECT_EQ(sizes.behind_modifiers(TypeId{12}), TypeId{3});
    EXPECT_EQ(sizes.behind_modifiers(TypeId{14}), void_id);
    EXPECT_EQ(sizes.behind_modifiers(TypeId{11}), TypeId{11});
}

} // namespace

} // namespace btflink::test
