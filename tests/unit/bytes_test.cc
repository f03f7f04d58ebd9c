// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "common/io/bytes.h"

#include <gtest/gtest.h>

namespace btflink
{

namespace
{

std::string text_of(Bytes bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(Bytes, WriterUsesItsByteOrder)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        ByteWriter out(order);
        out.put<uint8_t>(1);
        out.put<uint16_t>(0x0203);
        out.put<uint32_t>(0x04050607);
        out.put<uint64_t>(0x08090a0b0c0d0e0f);
        EXPECT_EQ(out.order(), order);
        std::string text = text_of(out.take());
        if (order == ByteOrder::big)
            EXPECT_EQ(text, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f");
        else
            EXPECT_EQ(text, "\x01\x03\x02\x07\x06\x05\x04\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08");
    }
}

TEST(Bytes, WriterAlignsAndPatches)
{
    ByteWriter out(ByteOrder::big);
    out.put<uint8_t>(0xff);
    out.align(4);
    EXPECT_EQ(out.size(), 4u);
    out.align(4);
    EXPECT_EQ(out.size(), 4u);
    out.put_bytes(as_bytes("xy"));
    out.put_zeros(2);
    out.patch<uint16_t>(2, 0x4142);
    EXPECT_EQ(text_of(out.take()), std::string("\xff\0ABxy\0\0", 8));
}

TEST(Bytes, ReaderReadsWhatWriterWrote)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        ByteWriter out(order);
        out.put<uint16_t>(0x1234);
        out.put<uint64_t>(0x123456789abcdef0);
        auto bytes = out.take();
        ByteReader in(bytes, order, Where{"f"});
        EXPECT_EQ(in.read<uint16_t>("a").value(), 0x1234);
        EXPECT_EQ(in.read<uint64_t>("b").value(), 0x123456789abcdef0u);
        EXPECT_EQ(in.left(), 0u);
    }
}

TEST(Bytes, ReaderNeverPassesItsEndAndKnowsWhereItIs)
{
    ByteReader in(as_bytes("abcde"), ByteOrder::little, Where{"f.o", ".sec", 0x10});
    ASSERT_TRUE(in.read<uint16_t>("head"));
    EXPECT_EQ(in.here().str(), "f.o: .sec+0x12");
    auto word = in.read<uint32_t>("the size");
    ASSERT_FALSE(word);
    EXPECT_EQ(word.error().str(), "f.o: .sec+0x12: truncated: no room for the size");
    EXPECT_EQ(in.offset(), 2u);
    EXPECT_FALSE(in.read_bytes(4, "rest"));
    EXPECT_EQ(text_of(in.read_bytes(3, "rest").value()), "cde");
    EXPECT_FALSE(in.read<uint8_t>("more"));
    in.seek(1000);
    EXPECT_EQ(in.left(), 0u);
    in.seek(4);
    EXPECT_EQ(in.read<uint8_t>("last").value(), 'e');
}

TEST(Bytes, AlignUp)
{
    EXPECT_EQ(align_up(0, 8), 0u);
    EXPECT_EQ(align_up(1, 8), 8u);
    EXPECT_EQ(align_up(8, 8), 8u);
    EXPECT_EQ(align_up(9, 0), 9u);
    EXPECT_EQ(align_up(9, 1), 9u);
    EXPECT_EQ(align_up(10, 12), 12u);
}

} // namespace

} // namespace btflink
