// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Built with the <linux/btf.h> of a newer kernel, which has one more kind, we compile and refuse
// that kind: no row of our table is about it.
#include <linux/btf.h>
#define NR_BTF_KINDS (BTF_KIND_ENUM64 + 2)
#include "common/btf/btf_format.cc"

#include <gtest/gtest.h>

namespace btflink::test
{

namespace
{

TEST(NewerHeader, ItsKindIsUnknown)
{
    for (uint32_t kind = 0; kind < 128; ++kind) {
        const uint32_t words[16] = {0, btf::make_info(kind, 1, false)};
        const bool known = kind >= BTF_KIND_INT && kind <= BTF_KIND_ENUM64;
        EXPECT_EQ(btf::checked_words(words, 0) != 0, known) << kind;
        EXPECT_EQ(kind < btf::kind_count && btf::kinds[kind].name, known || kind == 0) << kind;
    }
}

} // namespace

} // namespace btflink::test
