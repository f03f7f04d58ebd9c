// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests ByteWriter and align_up().
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
