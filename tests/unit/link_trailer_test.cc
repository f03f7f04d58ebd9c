// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests writing, reading and checking link trailers, and splitting `.BTF` into contributions, in
// both byte orders.
#include "common/object_btf/link_trailer.h"
#include "tests/unit/text_blob.h"

namespace btflink::test
{

namespace
{

constexpr std::string_view object_text = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] STRUCT 's' size=4
        'm' type_id=1 bits_offset=0
    [3] VAR 'v' type_id=2 linkage=static
    [4] FUNC_PROTO '' ret_type_id=1
        'p' type_id=1
    [5] FUNC 'f' type_id=4 linkage=static
    [6] DATASEC '.data' size=4
        type_id=3 offset=0 size=4
)";

class Trailer : public testing::TestWithParam<ByteOrder>
{
protected:
    Trailer()
    {
        auto offset = [&](std::string_view text) {
            return StrOff{static_cast<uint32_t>(blob_->strings().find(text))};
        };
        made_.flags = trailer_final_addresses | trailer_has_pool;
        made_.features = default_features();
        made_.source = offset("s");
        made_.plain_end = TypeId{3};
        made_.pool_entries = 2;
        made_.hashes = stub_hashes(*blob_);
        made_.proto_words = {1, 2, raw(offset("p")), 1, 0, 0};
        made_.functions.push_back(
            {offset("f"), fn_has_address | fn_external, 0x1122334455667788, 1, TypeId{5}, 0});
        made_.functions.push_back({offset("v"), fn_inline, 42, 0, void_id, 0});
        made_.variables.push_back({TypeId{3}, offset(".data"), 2, 4, var_external});
        made_.ambiguous = {offset("s")};
        made_.addresses = {0xffffffff81000000, 0};
    }

    std::vector<std::byte> encode() { return encode_trailer(made_, *blob_.bytes, GetParam()); }
    Result<LinkTrailer> decode(Bytes bytes)
    {
        return decode_trailer(bytes, *blob_, Where{"f.o", ".BTF", 0x100});
    }
    /// The error of decode() if the 32-bit word at `offset` of the trailer is overwritten by
    /// `value`.
    std::string with_word(size_t offset, uint32_t value)
    {
        auto bytes = encode();
        store(bytes.data() + offset, value, GetParam());
        return error_of(decode(bytes));
    }
    /// Offset of the first entry of the table to which the header's field at `field` points.
    size_t table(size_t field) { return load<uint32_t>(encode().data() + field, GetParam()); }

    TextBlob blob_ = from_text(object_text, nullptr, GetParam());
    LinkTrailer made_;
};

TEST_P(Trailer, RoundTrip)
{
    auto bytes = encode();
    EXPECT_EQ(bytes.size() % 8, 0u);
    auto read = decode(bytes);
    ASSERT_TRUE(read) << read.error().str();
    EXPECT_EQ(read->flags, made_.flags);
    EXPECT_EQ(read->features, made_.features);
    EXPECT_NE(read->object_id, 0u);
    EXPECT_EQ(read->object_id, made_.object_id);
    EXPECT_EQ(read->source, made_.source);
    EXPECT_EQ(read->plain_end, made_.plain_end);
    EXPECT_EQ(read->pool_entries, 2u);
    EXPECT_EQ(read->hashes, made_.hashes);
    EXPECT_EQ(read->proto_words, made_.proto_words);
    EXPECT_EQ(read->ambiguous, made_.ambiguous);
    EXPECT_EQ(read->addresses, made_.addresses);
    ASSERT_EQ(read->functions.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read->functions[i].name, made_.functions[i].name);
        EXPECT_EQ(read->functions[i].flags, made_.functions[i].flags);
        EXPECT_EQ(read->functions[i].loose_hash, made_.functions[i].loose_hash);
        EXPECT_EQ(read->functions[i].pool_index, made_.functions[i].pool_index);
        EXPECT_EQ(read->functions[i].func, made_.functions[i].func);
    }
    ASSERT_EQ(read->variables.size(), 1u);
    EXPECT_EQ(read->variables[0].var, TypeId{3});
    EXPECT_EQ(read->variables[0].section, made_.variables[0].section);
    EXPECT_EQ(read->variables[0].pool_index, 2u);
    EXPECT_EQ(read->variables[0].size, 4u);
    EXPECT_EQ(read->variables[0].flags, var_external);
    // Encoding the decoded trailer gives the same bytes.
    EXPECT_EQ(encode_trailer(*read, *blob_.bytes, GetParam()), bytes);
}

TEST_P(Trailer, TrueSignatures)
{
    auto before = encode();
    made_.true_signatures.push_back(made_.functions[0]);
    made_.true_signatures.push_back({StrOff{}, fn_reordered, 7, 0, void_id, 6});
    made_.proto_words.insert(made_.proto_words.end(), {0, 0});
    made_.true_signatures[1].instance = 1;
    auto bytes = encode();
    auto half = [](Bytes trailer) { return load<uint16_t>(trailer.data() + 6, GetParam()); };
    EXPECT_EQ(half(before), 104);
    EXPECT_EQ(half(bytes), 112);
    auto read = decode(bytes);
    ASSERT_TRUE(read) << read.error().str();
    EXPECT_EQ(read->functions.size(), 2u);
    ASSERT_EQ(read->true_signatures.size(), 2u);
    EXPECT_EQ(read->true_signatures[0].func, made_.functions[0].func);
    EXPECT_EQ(read->true_signatures[1].flags, fn_reordered);
    EXPECT_EQ(read->true_signatures[1].instance, 1u);
    EXPECT_EQ(encode_trailer(*read, *blob_.bytes, GetParam()), bytes);
    EXPECT_NE(with_word(table(104) + 28, 2).find("function index of a true signature"),
              std::string::npos);
    EXPECT_NE(with_word(108, 1000).find("does not fit"), std::string::npos);
    EXPECT_NE(with_word(table(104) + 20, 1).find("is not a FUNC with"), std::string::npos);
    for (uint32_t field : {104u, 108u})
        EXPECT_NE(with_word(field, UINT32_MAX), "");
}

TEST_P(Trailer, Samples)
{
    auto bytes = encode();
    const auto [samples, types, plain_end] = trailer_samples(bytes);
    if (GetParam() != host_order) { // trailer_samples() does not convert
        EXPECT_TRUE(samples.empty());
        return;
    }
    std::vector<uint32_t> want = {blob_->word_index(TypeId{1}), blob_->word_index(TypeId{5})};
    EXPECT_EQ(std::vector(samples.begin(), samples.end()), want);
    EXPECT_EQ(std::pair(types, plain_end), std::pair(blob_->size(), 3u));
    // A header of 96 bytes, from before samples were introduced.
    store<uint16_t>(bytes.data() + 6, 96, GetParam());
    EXPECT_TRUE(trailer_samples(bytes).samples.empty());
    EXPECT_TRUE(decode(bytes));
    for (uint32_t lie : {3u, 1000u, UINT32_MAX}) {
        bytes = encode();
        store<uint32_t>(bytes.data() + 100, lie, GetParam());
        EXPECT_TRUE(trailer_samples(bytes).samples.empty());
    }
    EXPECT_TRUE(trailer_samples(Bytes(bytes).first(100)).samples.empty());
}

TEST_P(Trailer, ObjectIdCoversBlobAndTrailer)
{
    encode();
    uint64_t before = made_.object_id;
    encode();
    EXPECT_EQ(made_.object_id, before);
    made_.functions[0].flags ^= fn_clang;
    encode();
    EXPECT_NE(made_.object_id, before);
    made_.functions[0].flags ^= fn_clang;
    blob_.bytes->back() = std::byte{1};
    encode();
    EXPECT_NE(made_.object_id, before);
}

TEST_P(Trailer, EachFieldIsChecked)
{
    // "" if `error` contains `part`.
    auto said = [](const std::string &error, const char *part) {
        return error.find(part) != std::string::npos ? "" : "not '" + error + "'";
    };
    uint32_t version_and_length = GetParam() == ByteOrder::little ? 2 | 96 << 16 : 2 << 16 | 96;
    EXPECT_EQ(with_word(0, 0), ""); // the caller checks the magic
    EXPECT_EQ(said(with_word(4, version_and_length), "f.o: .BTF+0x104: link trailer version 2"),
              "");
    EXPECT_EQ(said(with_word(8, 96), "states a wrong length"), "");
    EXPECT_EQ(said(with_word(20, 1000), "+0x114: source name is out of range"), "");
    EXPECT_EQ(said(with_word(32, 0), "plain types is out of range"), "");
    EXPECT_EQ(with_word(32, 7), "");
    EXPECT_EQ(said(with_word(32, 8), "plain types is out of range"), "");
    EXPECT_EQ(said(with_word(36, 1), "pool index of a variable is out of range"), "");
    EXPECT_EQ(said(with_word(36, 3), "number of addresses"), "");
    EXPECT_EQ(said(with_word(44, 5), "number of hashes"), "");
    for (size_t field = 40; field < 88; field += 8) {
        EXPECT_EQ(said(with_word(field, UINT32_MAX), "does not fit"), "") << field;
        EXPECT_EQ(said(with_word(field + 4, UINT32_MAX), "does not fit"), "") << field;
    }
    size_t function = table(48), variable = table(64);
    EXPECT_EQ(said(with_word(function, 1000), "name of a function"), "");
    EXPECT_EQ(said(with_word(function + 16, 3), "pool index of a function"), "");
    EXPECT_EQ(said(with_word(function + 20, 4), "is not a FUNC with"), "");
    EXPECT_EQ(said(with_word(function + 20, 99), "is not a FUNC with"), "");
    EXPECT_EQ(said(with_word(function + 32 + 24, 5), "prototype of a function"), "");
    EXPECT_EQ(said(with_word(table(56), 99), "prototype of a function"), "");
    EXPECT_EQ(said(with_word(table(56) + 4, 3), "prototype of a function"), "");
    EXPECT_EQ(said(with_word(table(56) + 8, 1000), "parameter of a function"), "");
    EXPECT_EQ(said(with_word(table(56) + 12, 99), "parameter of a function"), "");
    EXPECT_EQ(said(with_word(variable, 2), "is not a VAR"), "");
    EXPECT_EQ(said(with_word(variable + 4, 1000), "section name of a variable"), "");
    EXPECT_EQ(said(with_word(variable + 8, 3), "pool index of a variable"), "");
    EXPECT_EQ(said(with_word(table(72), 1000), "ambiguous name"), "");
}

/// Prototypes that share words are refused, because N functions with one prototype of N parameters
/// would take N * N steps.
TEST_P(Trailer, PrototypesDoNotShareWords)
{
    auto error = [&] { return error_of(decode(encode())); };
    const LinkFunction inlined = made_.functions[1];
    made_.proto_words.insert(made_.proto_words.end(), {1, 0});
    made_.functions.push_back(inlined);
    made_.functions.back().proto = 6;
    EXPECT_EQ(error(), "");
    made_.functions.back() = inlined;
    EXPECT_NE(error().find("prototypes of functions share words"), std::string::npos) << error();
    made_.true_signatures.push_back(inlined);
    made_.functions.pop_back();
    EXPECT_NE(error().find("prototypes of functions share words"), std::string::npos) << error();
}

TEST_P(Trailer, ParametersAreNoMoreThanBtfCounts)
{
    if (GetParam() != host_order)
        GTEST_SKIP() << "the trailer has 134 MB, so one byte order must do";
    auto error_with = [&](uint32_t count, size_t stored) {
        made_.proto_words.assign(2 + stored * 2, 0);
        made_.proto_words[1] = count;
        return error_of(decode(encode()));
    };
    EXPECT_EQ(error_with(btf::max_long_vlen, btf::max_long_vlen), "");
    EXPECT_NE(error_with(btf::max_long_vlen + 1, 0).find("more parameters than BTF"),
              std::string::npos);
}

TEST_P(Trailer, NoByteCanDoHarm)
{
    auto bytes = encode();
    for (size_t at = 0; at < bytes.size(); ++at)
        for (int value = 0; value < 256; ++value) {
            auto broken = bytes;
            broken[at] = static_cast<std::byte>(value);
            auto read = decode(broken);
            if (read)
                encode_trailer(*read, *blob_.bytes, GetParam());
        }
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode(Bytes(bytes).first(size))) << size;
}

TEST_P(Trailer, ContributionsAreFound)
{
    auto append = [](std::vector<std::byte> &to, Bytes part) {
        to.insert(to.end(), part.begin(), part.end());
    };
    std::vector<std::byte> one = *blob_.bytes;
    one.resize(align_up(one.size(), 8));
    append(one, encode());
    std::vector<std::byte> section = one;
    append(section, one);
    section.resize(section.size() + 24);
    size_t third = section.size();
    append(section, *blob_.bytes); // the BTF of another tool, without a trailer
    auto parts = split_contributions(section, Where{"f.o", ".BTF"});
    ASSERT_TRUE(parts) << parts.error().str();
    ASSERT_EQ(parts->size(), 3u);
    EXPECT_EQ((*parts)[1].offset, one.size());
    EXPECT_EQ((*parts)[1].blob.size(), blob_.bytes->size());
    EXPECT_TRUE(decode((*parts)[1].trailer));
    EXPECT_EQ((*parts)[2].offset, third);
    EXPECT_TRUE((*parts)[2].trailer.empty());
    EXPECT_EQ(split_contributions({}, Where{"f.o"}).value().size(), 0u);

    for (size_t size = 1; size < one.size(); ++size) {
        auto cut = split_contributions(Bytes(one).first(size), Where{"f.o"});
        EXPECT_TRUE(!cut || cut->empty() || (*cut)[0].trailer.empty()) << size;
    }
    for (size_t at = 0; at < one.size(); ++at)
        for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
            auto broken = one;
            broken[at] = static_cast<std::byte>(value);
            (void)split_contributions(broken, Where{"f.o"});
        }
}

INSTANTIATE_TEST_SUITE_P(Orders, Trailer, testing::Values(ByteOrder::little, ByteOrder::big),
                         [](const auto &order) {
                             return order.param == ByteOrder::little ? "little" : "big";
                         });

} // namespace

} // namespace btflink::test
