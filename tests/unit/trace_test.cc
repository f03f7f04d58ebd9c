// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests the files of --time-trace (phases, their times, threads) and JSON strings.
#include "common/io/trace.h"

#include "common/io/file_io.h"
#include "common/io/json_text.h"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <thread>
#include <unistd.h>

namespace btflink::trace
{

namespace
{

class TraceTest : public testing::Test
{
protected:
    void SetUp() override
    {
        folder_ = testing::TempDir() + "btflink-trace-" + std::to_string(::getpid());
        std::filesystem::create_directory(folder_);
        path_ = folder_ + "/trace.json";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string text() const
    {
        auto bytes = read_file(path_);
        return bytes ? std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size())
                     : bytes.error().str();
    }
    /// The number of matches of `pattern` in the trace file.
    long count(const std::string &pattern) const
    {
        std::string all = text();
        std::regex regex(pattern);
        return std::distance(std::sregex_iterator(all.begin(), all.end(), regex), {});
    }
    /// The number after `key` in the line of phase `name`, or -1 if there is none.
    double value(const std::string &name, const std::string &key) const
    {
        std::string all = text();
        std::smatch match;
        std::regex regex("\"name\":\"" + name + "\"[^\n]*\"" + key + "\":([0-9.]+)");
        return std::regex_search(all, match, regex) ? std::stod(match[1]) : -1;
    }

    std::string folder_, path_;
};

TEST_F(TraceTest, PhasesNest)
{
    ASSERT_TRUE(start(path_, "program"));
    EXPECT_FALSE(std::filesystem::exists(path_));
    {
        Phase outer("outer");
        outer.note("things", 7);
        Phase inner("inner", "a \"file\"");
    }
    ASSERT_TRUE(write());
    EXPECT_EQ(count("\"ph\":\"X\""), 2);
    EXPECT_EQ(count("\"process_name\".*\"args\":\\{\"name\":\"program\"\\}"), 1);
    EXPECT_EQ(count("\"name\":\"outer\".*\"args\":\\{\"things\":7\\}"), 1);
    EXPECT_EQ(count("\"name\":\"inner\".*\"args\":\\{\"detail\":\"a \\\\\"file\\\\\"\"\\}"), 1);
    EXPECT_LT(text().find("outer"), text().find("inner"));
    EXPECT_LE(value("outer", "ts"), value("inner", "ts"));
    EXPECT_GE(value("outer", "ts") + value("outer", "dur"),
              value("inner", "ts") + value("inner", "dur"));
}

/// Processor time of this thread, in microseconds.
double processor_time()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

TEST_F(TraceTest, WallTimeAndProcessorTime)
{
    using Clock = std::chrono::steady_clock;
    ASSERT_TRUE(start(path_, "program"));
    const auto begin = Clock::now();
    const double processor_begin = processor_time();
    {
        Phase asleep("asleep");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const double processor = processor_time() - processor_begin;
    const double wall = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    ASSERT_TRUE(write());
    // A sleep is not shorter than asked for. The test reads the same clocks before and after the
    // phase, so its own times are at least those of the phase. Times are in microseconds.
    constexpr double rounding = 1;
    EXPECT_GE(value("asleep", "dur"), 20000 - rounding);
    EXPECT_LE(value("asleep", "dur"), wall + rounding);
    EXPECT_GE(value("asleep", "tdur"), 0);
    EXPECT_LE(value("asleep", "tdur"), processor + rounding);
}

TEST_F(TraceTest, PhasesEndOnce)
{
    ASSERT_TRUE(start(path_, "program"));
    Phase phase("ended"), open("open");
    phase.end();
    phase.end();
    ASSERT_TRUE(write());
    EXPECT_EQ(count("\"name\":\"ended\""), 1);
    EXPECT_EQ(count("\"name\":\"open\""), 0);
}

TEST_F(TraceTest, NothingIsRecordedOutsideATrace)
{
    EXPECT_FALSE(on());
    Phase before("before");
    ASSERT_TRUE(start(path_, "program"));
    EXPECT_TRUE(on());
    before.end();
    Phase("of another trace"); // in this trace, but not in the next one
    ASSERT_TRUE(write());
    EXPECT_EQ(count("\"ph\":\"X\""), 1);
    EXPECT_FALSE(on());
    Phase("after");
    ASSERT_TRUE(start(path_, "program"));
    ASSERT_TRUE(write());
    EXPECT_EQ(count("\"ph\":\"X\""), 0);
}

TEST_F(TraceTest, ManyThreads)
{
    ASSERT_TRUE(start(path_, "program"));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 500; ++i)
                Phase("work").note("i", static_cast<uint64_t>(i));
        });
    for (std::thread &thread : threads)
        thread.join();
    ASSERT_TRUE(write());
    EXPECT_EQ(count("\"name\":\"work\""), 2000);
    std::set<std::string> ids;
    std::string all = text();
    std::regex regex("\"tid\":([0-9]+),\"ts\"");
    for (std::sregex_iterator i(all.begin(), all.end(), regex), end; i != end; ++i)
        ids.insert((*i)[1]);
    EXPECT_EQ(ids.size(), 4u);
}

TEST_F(TraceTest, UnwritableFileIsAnErrorAtTheStart)
{
    auto none = start(folder_ + "/none/trace.json", "program");
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().str().find("No such file"), std::string::npos) << none.error().str();
    auto folder = start(folder_, "program");
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().str(), folder_ + ": cannot write: is a directory");
    EXPECT_FALSE(on());
}

TEST(JsonString, Escapes)
{
    EXPECT_EQ(json_string(""), R"("")");
    EXPECT_EQ(json_string("a/b"), R"("a/b")");
    EXPECT_EQ(json_string("\"\\"), R"("\"\\")");
    EXPECT_EQ(json_string(std::string_view("\0\n\x1f\x7f", 4)), R"("\u0000\u000a\u001f\u007f")");
    EXPECT_EQ(json_string("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
              "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(JsonString, IsAlwaysValidUtf8)
{
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_EQ(json_string("a\xff"), "\"a" + bad + "\"");
    EXPECT_EQ(json_string("\xc3"), "\"" + bad + "\"");           // cut
    EXPECT_EQ(json_string("\xc3("), "\"" + bad + "(\"");         // no continuation
    EXPECT_EQ(json_string("\xc0\x80"), "\"" + bad + bad + "\""); // overlong
    EXPECT_EQ(json_string("\xe0\x80\x80"), "\"" + bad + bad + bad + "\"");
    EXPECT_EQ(json_string("\xed\xa0\x80"), "\"" + bad + bad + bad + "\""); // surrogate
    EXPECT_EQ(json_string("\xf4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
}

} // namespace

} // namespace btflink::trace
