// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests Btf::parse() and Btf::sampled() with valid and with damaged blobs.
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

constexpr std::string_view many_kinds = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] PTR '' type_id=4
    [3] ARRAY '' type_id=1 index_type_id=1 nr_elems=3
    [4] STRUCT 's' size=16
        'a' type_id=1 bits_offset=0
        'b' type_id=2 bits_offset=64
    [5] ENUM64 'e' size=8 encoding=UNSIGNED
        'E' val=0x100000000
    [6] FUNC_PROTO '' ret_type_id=0
        'p' type_id=2
    [7] FUNC 'f' type_id=6 linkage=static
    [8] VAR 'v' type_id=4 linkage=global
    [9] DATASEC '.data' size=16
        type_id=8 offset=0 size=16
    [10] DECL_TAG 'tag' type_id=4 component_idx=1
)";

std::string parse_error(Bytes bytes)
{
    return error_of(Btf::parse(bytes, Where{"f"}));
}

std::vector<std::byte> blob_of(std::string_view text, ByteOrder order = host_order)
{
    return *from_text(text, nullptr, order).bytes;
}

TEST(Btf, ReadsBothByteOrders)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        TextBlob blob = from_text(many_kinds, nullptr, order);
        EXPECT_EQ(blob->order(), order);
        EXPECT_EQ(blob->size(), 10u);
        EXPECT_EQ(blob->name(TypeId{4}), "s");
        EXPECT_EQ(blob->type(TypeId{4}).size, 16u);
        EXPECT_STREQ(blob->kind_name(TypeId{9}), "DATASEC");
        EXPECT_EQ(blob->kind(void_id), btf::Kind::VOID);
        EXPECT_EQ(blob->name(void_id), "");
        EXPECT_EQ(btf_to_text(*blob), btf_to_text(*from_text(many_kinds)));
    }
}

TEST(Btf, ReadsFromAnyAlignment)
{
    auto bytes = blob_of(many_kinds);
    for (size_t shift = 0; shift < 4; ++shift) {
        std::vector<std::byte> moved(shift);
        moved.insert(moved.end(), bytes.begin(), bytes.end());
        auto btf = Btf::parse(Bytes(moved).subspan(shift), Where{"f"});
        ASSERT_TRUE(btf);
        EXPECT_EQ(btf->name(TypeId{8}), "v");
    }
}

TEST(Btf, LongerHeadersAndTrailingBytesAreIgnored)
{
    auto bytes = blob_of(many_kinds);
    size_t size = bytes.size();
    bytes.insert(bytes.begin() + 24, 8, std::byte{0});
    store<uint32_t>(bytes.data() + 4, 32, host_order);
    bytes.resize(bytes.size() + 100, std::byte{0xff});
    auto btf = Btf::parse(bytes, Where{"f"});
    ASSERT_TRUE(btf) << btf.error().str();
    EXPECT_EQ(btf->blob_size(), size + 8);
    EXPECT_EQ(btf->types_offset(), 32u);
    EXPECT_EQ(btf_blob_size(bytes, Where{"f"}).value(), size + 8);
    EXPECT_EQ(btf->name(TypeId{10}), "tag");
}

TEST(Btf, EveryTruncationIsAnError)
{
    auto bytes = blob_of(many_kinds);
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_NE(parse_error(Bytes(bytes).first(size)), "") << size;
    EXPECT_EQ(parse_error(bytes), "");
}

TEST(Btf, WrongHeadersAreErrors)
{
    auto error = [](size_t at, uint32_t value, size_t width = 4) {
        auto bytes = blob_of(many_kinds);
        for (size_t i = 0; i < width; ++i)
            bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
        return parse_error(bytes);
    };
    EXPECT_EQ(error(0, 0x1234, 2), "f: not BTF: magic is 0x1234, not 0xeb9f");
    EXPECT_EQ(error(2, 2, 1), "f: BTF version 2 is not supported (only 1 is)");
    EXPECT_EQ(error(4, 23), "f+0x4: BTF header length is 23, which is impossible");
    EXPECT_EQ(error(4, UINT32_MAX), "f+0x4: BTF header length is 4294967295, which is impossible");
    EXPECT_NE(error(8, 2).find("f+0x8: BTF types"), std::string::npos);
    EXPECT_NE(error(8, UINT32_MAX - 3).find("f+0x8: BTF types"), std::string::npos);
    EXPECT_NE(error(12, UINT32_MAX).find("f+0x8: BTF types"), std::string::npos);
    EXPECT_NE(error(16, UINT32_MAX).find("f+0x10: BTF strings"), std::string::npos);
    EXPECT_NE(error(20, UINT32_MAX).find("f+0x10: BTF strings"), std::string::npos);
    EXPECT_EQ(error(16, 0), "f+0x10: BTF types and strings overlap");
    EXPECT_NE(error(20, 0).find("split BTF needs its base"), std::string::npos);
    EXPECT_NE(error(20, 3).find("do not end in a NUL byte"), std::string::npos);
}

/// The error of Btf::parse() if word `word` of the types part of `text` is overwritten by `value`.
std::string with_word(std::string_view text, size_t word, uint32_t value)
{
    auto bytes = blob_of(text);
    store<uint32_t>(bytes.data() + 24 + 4 * word, value, host_order);
    return parse_error(bytes);
}

TEST(Btf, BadTypesAreErrors)
{
    constexpr std::string_view text =
        "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED\n"
        "[2] STRUCT 's' size=4\n 'm' type_id=1 bits_offset=0\n";
    EXPECT_EQ(with_word(text, 1, 0), "f+0x18: type 1 has unknown kind 0");
    EXPECT_EQ(with_word(text, 1, btf::kind_count << 24),
              strf("f+0x18: type 1 has unknown kind %u", btf::kind_count));
    EXPECT_EQ(with_word(text, 1, 0x41000000), "f+0x18: type 1 has unknown kind 65");
    EXPECT_EQ(with_word(text, 5, 4u << 24 | 0xffffff),
              "f+0x28: type 2 (STRUCT, vlen 16777215) is cut off");
    EXPECT_EQ(with_word(text, 5, 4u << 24 | 2), "f+0x28: type 2 (STRUCT, vlen 2) is cut off");
    EXPECT_EQ(with_word(text, 8, 3), "f+0x28: type 2 (STRUCT) refers to type 3, but the last is 2");
    EXPECT_EQ(with_word(text, 7, 9),
              "f+0x28: type 2 (STRUCT) has string offset 9, but strings end at 9");
    EXPECT_NE(with_word(text, 0, UINT32_MAX), "");
    EXPECT_EQ(with_word("[1] PTR '' type_id=1", 2, 2),
              "f+0x18: type 1 (PTR) refers to type 2, but the last is 1");
    EXPECT_NE(with_word("[1] ARRAY '' type_id=1 index_type_id=1 nr_elems=9", 4, 7), "");
    EXPECT_EQ(with_word("[1] ARRAY '' type_id=1 index_type_id=1 nr_elems=9", 5, 7), "");
}

TEST(Btf, StringsMustBeginAndEndWithNul)
{
    auto bytes = blob_of("[1] FWD 'a' fwd_kind=struct");
    size_t strings = bytes.size() - 3; // NUL a NUL
    bytes[strings] = std::byte{'x'};
    EXPECT_NE(parse_error(bytes).find("do not begin with the empty string"), std::string::npos);
    bytes[strings] = std::byte{0};
    bytes[strings + 2] = std::byte{'x'};
    EXPECT_NE(parse_error(bytes).find("do not end in a NUL byte"), std::string::npos);
}

TEST(Btf, SplitContinuesItsBase)
{
    TextBlob base = from_text(many_kinds);
    TextBlob split = from_text("[11] PTR '' type_id=4\n[12] TYPEDEF 't' type_id=11\n", base.btf);
    EXPECT_EQ(split->first_id(), TypeId{11});
    EXPECT_EQ(split->end_id(), TypeId{13});
    EXPECT_EQ(split->str_base(), base->str_size());
    EXPECT_EQ(split->name(TypeId{4}), "s");
    EXPECT_EQ(split->name(TypeId{12}), "t");
    EXPECT_EQ(split->base(), base.btf);
    // Without its base, split BTF is an error.
    EXPECT_NE(parse_error(*split.bytes), "");
}

/// The types of `btf`, read by position samples, which are stored in `samples`. `plain_end`: the
/// first id after the plain types.
Btf sampled(const Btf &btf, std::vector<uint32_t> &samples, uint32_t plain_end,
            MalformedFlag &malformed)
{
    samples.clear();
    for (uint32_t id = 1; id <= btf.size(); id += types_per_sample)
        samples.push_back(btf.word_index(TypeId{id}));
    return Btf::sampled({btf.words(), samples, btf.size(), plain_end, btf.strings()}, malformed);
}

TEST(Btf, ReadBySamplesIsTheSame)
{
    TextBlob blob = from_text(many_kinds);
    std::vector<uint32_t> samples;
    for (uint32_t plain_end : {1, 6, 7}) { // types 1 to 6 refer only to each other; 7 is a FUNC
        MalformedFlag malformed;
        Btf btf = sampled(*blob, samples, plain_end, malformed);
        EXPECT_EQ(btf.size(), blob->size());
        EXPECT_EQ(btf.end_id(), blob->end_id());
        EXPECT_EQ(btf_to_text(btf), btf_to_text(*blob));
        for (uint32_t id = 1; id <= btf.size(); ++id)
            EXPECT_EQ(btf.word_index(TypeId{id}), blob->word_index(TypeId{id}));
        Btf moved = std::move(btf);
        EXPECT_EQ(btf_to_text(moved), btf_to_text(*blob));
        EXPECT_FALSE(malformed.is_set());
    }
}

TEST(Btf, ReadBySamplesFindsDamageWhenATypeIsRead)
{
    TextBlob blob = from_text(many_kinds);
    std::vector<uint32_t> samples;
    auto seen = [&](const Btf &btf) { // ids whose reading finds an error
        std::vector<uint32_t> ids;
        for (uint32_t id = 1; id <= btf.size(); ++id) {
            MalformedFlag malformed;
            Btf fresh =
                Btf::sampled({btf.words(), samples, btf.size(), 8, btf.strings()}, malformed);
            (void)fresh.type(TypeId{id});
            if (malformed.is_set()) {
                EXPECT_EQ(fresh.kind(TypeId{id}), btf::Kind::INT);
                EXPECT_EQ(fresh.name(TypeId{id}), "");
                ids.push_back(id);
            }
        }
        return ids;
    };
    MalformedFlag malformed;
    (void)sampled(*blob, samples, 8, malformed);
    EXPECT_EQ(seen(*blob), std::vector<uint32_t>{7}); // a FUNC below plain_end

    auto seen_with = [&](uint32_t id, uint32_t word, uint32_t value) {
        auto *words =
            const_cast<uint32_t *>(blob->words().data()) + blob->word_index(TypeId{id}) + word;
        uint32_t before = *words;
        *words = value;
        auto ids = seen(*blob);
        *words = before;
        return ids;
    };
    using Ids = std::vector<uint32_t>;
    EXPECT_EQ(seen_with(2, 2, 8), (Ids{2, 7}));              // a plain PTR to a VAR
    EXPECT_EQ(seen_with(10, 2, 11), (Ids{7, 10}));           // no such type
    EXPECT_EQ(seen_with(4, 3, 1000), (Ids{4, 7}));           // no such string
    EXPECT_EQ(seen_with(1, 1, 0), (Ids{1, 2, 3, 4, 7}));     // all up to the next sample
    EXPECT_EQ(seen_with(9, 1, 0x0f00ffff), (Ids{7, 9, 10})); // too long
    samples[1] = UINT32_MAX;
    EXPECT_EQ(seen(*blob), (Ids{5, 6, 7, 8}));
}

TEST(Btf, AnyByteMayBeWrong)
{
    auto bytes = blob_of(many_kinds);
    for (size_t at = 0; at < bytes.size(); ++at)
        for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            auto broken = bytes;
            broken[at] = static_cast<std::byte>(value);
            auto btf = Btf::parse(broken, Where{"f"});
            if (btf)
                (void)btf_to_text(*btf); // all types can be read
        }
    TextBlob blob = from_text(many_kinds);
    std::vector<uint32_t> samples;
    MalformedFlag malformed;
    (void)sampled(*blob, samples, 7, malformed);
    auto lie = [&](void *place, size_t size) {
        auto *at = static_cast<std::byte *>(place);
        for (size_t i = 0; i < size; ++i)
            for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
                std::byte before = at[i];
                at[i] = static_cast<std::byte>(value);
                Btf btf = Btf::sampled({blob->words(), samples, blob->size(), 7, blob->strings()},
                                       malformed);
                for (uint32_t id = 1; id <= btf.size(); ++id)
                    (void)btf.word_index(TypeId{id});
                at[i] = before;
            }
    };
    lie(const_cast<uint32_t *>(blob->words().data()), blob->words().size_bytes());
    lie(samples.data(), samples.size() * 4);
}

} // namespace

} // namespace btflink::test
