// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests Result, TRY, places and texts of errors, strf() and CHECK.
#include "common/result.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>

namespace btflink
{

namespace
{

TEST(Result, WherePrintsWhatIsKnown)
{
    EXPECT_EQ(Where{"a.o"}.str(), "a.o");
    EXPECT_EQ(Where{"a.o"}.in(".BTF").str(), "a.o: .BTF");
    EXPECT_EQ(Where{"a.o"}.in(".BTF").at(24).str(), "a.o: .BTF+0x18");
    EXPECT_EQ(Where{"a.o"}.at(0).str(), "a.o+0x0");
    EXPECT_EQ(Where{"a.o"}.at(1).in(".x").str(), "a.o: .x");
    EXPECT_EQ((Where{"", ".BTF"}.str()), ".BTF");
    EXPECT_EQ(Where{}.str(), "");
}

TEST(Result, ErrorIsOneLine)
{
    EXPECT_EQ((Error{Where{"a.o"}, "is bad"}.str()), "a.o: is bad");
    EXPECT_EQ((Error{Where{}, "is bad"}.str()), "is bad");
    EXPECT_EQ((Error{Where{"a\n.o"}, "'\x1b[2J\x7f\xc3\xa4\n' is bad"}.str()),
              "a\\x0a.o: '\\x1b[2J\\x7f\xc3\xa4\\x0a' is bad");
    EXPECT_EQ((Error{Where{"\xc2\x9b"
                           "31m\xc2\xa0"},
                     "is bad"}
                   .str()),
              "\\xc2\\x9b31m\xc2\xa0: is bad");
}

TEST(Result, FailErrno)
{
    errno = ENOENT;
    Result<int> result = fail_errno(Where{"f"}, "cannot open");
    EXPECT_EQ(result.error().str(), "f: cannot open: No such file or directory");
    errno = EACCES;
    result = fail_errno(Where{"f"}, "");
    EXPECT_EQ(result.error().str(), "f: Permission denied");
}

Result<void> twice(int number, int &calls)
{
    auto odd = [&]() -> Result<void> {
        ++calls;
        if (number % 2)
            return fail(Where{"n"}, "odd");
        return {};
    };
    TRY(odd());
    TRY(odd());
    return {};
}

TEST(Result, TryEvaluatesOnceAndPassesOn)
{
    int calls = 0;
    EXPECT_TRUE(twice(2, calls));
    EXPECT_EQ(calls, 2);
    calls = 0;
    EXPECT_EQ(twice(1, calls).error().str(), "n: odd");
    EXPECT_EQ(calls, 1);
}

Result<size_t> length(Result<std::unique_ptr<std::string>> text)
{
    auto inside = TRY(std::move(text)); // a unique_ptr can only be moved
    return inside->size();
}

TEST(Result, TryYieldsTheValue)
{
    EXPECT_EQ(*length(std::make_unique<std::string>("abc")), 3u);
    Result<size_t> failed = length(fail(Where{"f"}, "is bad", ErrorKind::usage));
    EXPECT_EQ(failed.error().str(), "f: is bad");
    EXPECT_EQ(failed.error().kind, ErrorKind::usage);
}

TEST(Result, Strf)
{
    EXPECT_EQ(strf("%s", ""), "");
    EXPECT_EQ(strf("%d-%s", 7, "x"), "7-x");
    EXPECT_EQ(strf("%5000d", 1).size(), 5000u);
}

TEST(ResultDeathTest, CheckAborts)
{
    EXPECT_DEATH(CHECK(1 + 1 == 3), "CHECK\\(1 \\+ 1 == 3\\)");
}

} // namespace

} // namespace btflink
