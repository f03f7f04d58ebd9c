// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/output/read_ahead.h"

#include <gtest/gtest.h>

namespace btflink::merge
{

namespace
{

constexpr uint32_t items = 5000; // some batches

/// As many types as the number of the item has threes; of words and strings each has more than the
/// one before.
void threes(size_t item, ReadAhead::Batch &out)
{
    static const std::string names = "0123456789";
    const auto number = static_cast<uint32_t>(item);
    uint32_t found = 0;
    for (size_t left = item; left; left /= 10)
        if (left % 10 == 3) {
            out.words.insert(out.words.end(), found, number);
            for (uint32_t i = 0; i <= found; ++i)
                out.texts.emplace_back(std::string_view(names).substr(item % 10, i));
            out.types.push_back({found, found + 1, number});
            ++found;
        }
}

TEST(ReadAhead, InOrder)
{
    ReadAhead::Batch all;
    for (size_t i = 0; i < items; ++i)
        threes(i, all);
    for (unsigned threads : {1u, 2u, 7u}) {
        ReadAhead ahead(items, threads, threes);
        auto word = all.words.begin();
        auto text = all.texts.begin();
        for (const ReadAhead::Batch::Counts &counts : all.types) {
            const ReadAhead::Type type = ahead.next();
            ASSERT_EQ(type.note, counts.note) << threads;
            ASSERT_EQ(type.words.size(), counts.words) << threads;
            ASSERT_EQ(type.texts.size(), counts.texts) << threads;
            for (uint32_t found : type.words)
                ASSERT_EQ(found, *word++) << threads;
            for (const Text &found : type.texts)
                ASSERT_EQ(std::string_view(found), std::string_view(*text++)) << threads;
        }
    }
}

/// Who counts other than who ahead (a mapped file changed between them) does not wait forever.
TEST(ReadAheadDeathTest, NoMore)
{
    auto ask_once_more = [] {
        ReadAhead ahead(items, 1, [](size_t, ReadAhead::Batch &) {});
        ahead.next();
    };
    EXPECT_DEATH(ask_once_more(), "internal error at .*read_ahead");
}

} // namespace

} // namespace btflink::merge
