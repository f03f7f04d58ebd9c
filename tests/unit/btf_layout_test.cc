// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the layout section: the sizes that it states must be those of the structures in
// <linux/btf.h>.
#include "common/btf/btf_builder.h"
#include "tests/unit/text_blob.h"

#include "common/btf/btf_check.h"

#include <linux/btf.h>

namespace btflink::test
{

namespace
{

constexpr std::string_view text = R"(
    [1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
    [2] STRUCT 's' size=8
        'a' type_id=1 bits_offset=0
        'b' type_id=1 bits_offset=32
)";

struct Sizes {
    btf::Kind kind;
    size_t once, each; // bytes after btf_type: once, and for each element
};
constexpr Sizes sizes[] = {
    {btf::Kind::INT, sizeof(uint32_t), 0},
    {btf::Kind::ARRAY, sizeof(btf_array), 0},
    {btf::Kind::STRUCT, 0, sizeof(btf_member)},
    {btf::Kind::UNION, 0, sizeof(btf_member)},
    {btf::Kind::ENUM, 0, sizeof(btf_enum)},
    {btf::Kind::FUNC_PROTO, 0, sizeof(btf_param)},
    {btf::Kind::VAR, sizeof(btf_var), 0},
    {btf::Kind::DATASEC, 0, sizeof(btf_var_secinfo)},
    {btf::Kind::DECL_TAG, sizeof(btf_decl_tag), 0},
    {btf::Kind::ENUM64, 0, sizeof(btf_enum64)},
};

std::vector<std::byte> laid_out(ByteOrder order, bool section)
{
    std::vector<std::byte> blob = *from_text(text, nullptr, order).bytes;
    add_layout(blob, order, section);
    return blob;
}

TEST(BtfLayout, HasTheSizesOfEveryKind)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        const std::vector<std::byte> blob = laid_out(order, true);
        auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, order); };
        EXPECT_EQ(word(4), 32u);
        const uint32_t type_len = word(12), at = word(24), length = word(28);
        EXPECT_EQ(at, type_len);
        EXPECT_EQ(length, 4 * btf::kind_count);
        EXPECT_EQ(word(16), at + length);
        EXPECT_EQ(blob.size(), 32 + word(16) + word(20));
        std::vector<std::byte> want(length);
        for (const Sizes &s : sizes) {
            want[static_cast<size_t>(s.kind) * 4] = std::byte(s.once);
            want[static_cast<size_t>(s.kind) * 4 + 1] = std::byte(s.each);
        }
        EXPECT_TRUE(std::equal(want.begin(), want.end(), blob.begin() + 32 + at));
    }
}

TEST(BtfLayout, TypesAndStringsStayTheSame)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big})
        for (bool section : {false, true}) {
            std::vector<std::byte> blob = laid_out(order, section);
            auto btf = Btf::parse(blob, Where{"f"});
            ASSERT_TRUE(btf) << error_of(btf);
            EXPECT_EQ(btf_to_text(*btf), btf_to_text(*from_text(text)));
            EXPECT_EQ(btf->blob_size(), blob.size());
            EXPECT_EQ(error_of(check_btf(blob, *btf, Where{"f"})), "");
        }
}

TEST(BtfLayout, LongHeaderAloneHasNone)
{
    const std::vector<std::byte> with = laid_out(host_order, true),
                                 without = laid_out(host_order, false);
    EXPECT_EQ(layout_place(with, 32, host_order).length, 4 * btf::kind_count);
    EXPECT_EQ(layout_place(without, 32, host_order).length, 0u);
    EXPECT_EQ(without.size() + 4 * btf::kind_count, with.size());
    EXPECT_EQ(layout_place(*from_text(text).bytes, 24, host_order).length, 0u);
}

TEST(BtfLayout, MustFitIntoTheBlob)
{
    std::vector<std::byte> blob = laid_out(host_order, true);
    const auto size = static_cast<uint32_t>(blob.size());
    store(blob.data() + 28, size, host_order); // layout_len
    EXPECT_NE(error_of(Btf::parse(blob, Where{"f"})).find("f+0x18: BTF layout ("),
              std::string::npos);
    // A layout section after the strings is also part of the blob.
    blob = laid_out(host_order, true);
    blob.resize(blob.size() + 4 * btf::kind_count);
    store(blob.data() + 24, size - 32, host_order); // layout_off
    auto btf = Btf::parse(blob, Where{"f"});
    ASSERT_TRUE(btf) << error_of(btf);
    EXPECT_EQ(btf->blob_size(), size + 4 * btf::kind_count);
}

} // namespace

} // namespace btflink::test
