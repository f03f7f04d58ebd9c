// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests writing address pools, and finding them in a section, in both byte orders.
#include "common/object_btf/address_pool.h"

#include <gtest/gtest.h>

namespace btflink
{

namespace
{

constexpr uint64_t id = 0x0123456789abcdef;

void append(std::vector<std::byte> &to, const std::vector<std::byte> &part)
{
    to.insert(to.end(), part.begin(), part.end());
}

TEST(AddressPool, EntriesAreWhereRelocationsGo)
{
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        for (uint8_t size : {uint8_t{4}, uint8_t{8}}) {
            auto pool = encode_pool(id, 3, size, order);
            EXPECT_EQ(pool.size() % 8, 0u);
            std::byte *entry = pool.data() + pool_entry_offset(2, size);
            if (size == 8)
                store<uint64_t>(entry, 0xffffffff81000000, order);
            else
                store<uint32_t>(entry, 0xc0100000, order);
            auto parts = find_pools(pool, order);
            ASSERT_EQ(parts.size(), 1u);
            EXPECT_EQ(parts[0].object_id, id);
            EXPECT_EQ(parts[0].offset, 0u);
            EXPECT_EQ(parts[0].address_size, size);
            EXPECT_GE(parts[0].count(), 3u);
            EXPECT_EQ(parts[0].address(1), 0u);
            EXPECT_EQ(parts[0].address(2), size == 8 ? 0xffffffff81000000 : 0xc0100000);
        }
    }
}

TEST(AddressPool, NoEntries)
{
    auto pool = encode_pool(id, 0, 8, ByteOrder::little);
    EXPECT_EQ(pool.size(), 16u);
    auto parts = find_pools(pool, ByteOrder::little);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].count(), 0u);
}

TEST(AddressPool, FoundAmongPadding)
{
    std::vector<std::byte> section = encode_pool(1, 1, 8, ByteOrder::little);
    section.resize(section.size() + 8);
    append(section, encode_pool(2, 4, 4, ByteOrder::little));
    size_t last = section.size();
    append(section, encode_pool(3, 1, 8, ByteOrder::little));
    auto parts = find_pools(section, ByteOrder::little);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[1].object_id, 2u);
    EXPECT_EQ(parts[1].offset, 32u);
    EXPECT_EQ(parts[2].object_id, 3u);
    EXPECT_EQ(parts[2].offset, last);
}

TEST(AddressPool, DamagedHeaderEndsTheSearch)
{
    auto pool = encode_pool(id, 2, 8, ByteOrder::little);
    for (size_t size = 0; size < pool.size(); ++size)
        EXPECT_TRUE(find_pools(Bytes(pool).first(size), ByteOrder::little).empty()) << size;
    EXPECT_TRUE(find_pools(pool, ByteOrder::big).empty());
    for (size_t at = 0; at < 7; ++at) { // length, version, address size
        auto broken = pool;
        broken[at] ^= std::byte{0xff};
        append(broken, pool);
        EXPECT_TRUE(find_pools(broken, ByteOrder::little).empty()) << at;
    }
}

} // namespace

} // namespace btflink
