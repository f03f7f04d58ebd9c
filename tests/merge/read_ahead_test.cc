// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/output/read_ahead.h"

#include <gtest/gtest.h>

namespace btflink::merge
{

namespace
{

constexpr uint32_t items = 5000; // some batches

/// As many ids as the number of the item has threes.
void threes(size_t item, ReadAhead::Batch &out)
{
    for (size_t left = item; left; left /= 10)
        if (left % 10 == 3)
            out.ids.push_back(static_cast<uint32_t>(item));
}

TEST(ReadAhead, InOrder)
{
    ReadAhead::Batch all;
    for (size_t i = 0; i < items; ++i)
        threes(i, all);
    for (unsigned threads : {1u, 2u, 7u}) {
        ReadAhead ahead(items, threads, threes);
        for (uint32_t id : all.ids)
            ASSERT_EQ(ahead.next_id(), id) << threads;
    }
}

/// Who counts other than who ahead (a mapped file changed between them) does not wait forever.
TEST(ReadAheadDeathTest, NoMore)
{
    auto ask_once_more = [] {
        ReadAhead ahead(items, 1, [](size_t, ReadAhead::Batch &) {});
        ahead.next_id();
    };
    EXPECT_DEATH(ask_once_more(), "CHECK\\(b < batches_.size\\(\\)\\)");
}

} // namespace

} // namespace btflink::merge
