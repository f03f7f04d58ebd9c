// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Simulates a <linux/btf.h> of a newer kernel with one more kind. The code must compile, and refuse
// this kind, which is not in the table of kinds.
#include <linux/btf.h>
#define NR_BTF_KINDS (BTF_KIND_ENUM64 + 2)
#include "common/btf/btf_format.h"

#include <gtest/gtest.h>

namespace btflink::test
{

namespace
{

TEST(NewerHeader, ItsKindIsUnknown)
{
    for (uint32_t kind = 0; kind < 128; ++kind) {
        const uint32_t words[16] = {0, kind << 24 | 1};
        const bool known = kind >= BTF_KIND_INT && kind < std::size(btf::kinds);
        EXPECT_EQ(btf::checked_words(words, 0) != 0, known) << kind;
    }
}

TEST(Kinds, HaveTheNumbersOfTheHeader)
{
    EXPECT_EQ(static_cast<int>(btf::Kind::FWD), BTF_KIND_FWD);
    EXPECT_EQ(static_cast<int>(btf::Kind::FUNC), BTF_KIND_FUNC);
    EXPECT_EQ(static_cast<int>(btf::Kind::ENUM64), BTF_KIND_ENUM64);
}

} // namespace

} // namespace btflink::test
