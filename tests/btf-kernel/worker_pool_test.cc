// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Tests WorkerPool: the result of each piece of work is known, however the piece's process ends,
// and the processes inherit open files.
#include "btf-kernel/encode/worker_pool.h"
#include "common/io/file_io.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace btflink::kernel
{

namespace
{

class Workers : public testing::Test
{
protected:
    void SetUp() override { ::alarm(120); } // ends tests that hang
    void TearDown() override { ::alarm(0); }

    static std::vector<WorkResult> run(size_t count, unsigned workers,
                                       const std::function<WorkResult(size_t)> &work)
    {
        WorkerPool pool(workers);
        for (size_t i = 0; i < count; ++i)
            EXPECT_TRUE(pool.add([&] { return work(i); }));
        size_t looks = 0;
        auto results = pool.finish([&] { ++looks; });
        EXPECT_LE(looks, workers);
        EXPECT_EQ(results.size(), count);
        return results;
    }
};

TEST_F(Workers, Results)
{
    for (unsigned workers : {1u, 3u, 40u}) {
        const auto results = run(100, workers, [](size_t i) -> WorkResult {
            return {i % 2 == 1, "piece " + std::to_string(i)};
        });
        for (size_t i = 0; i < results.size(); ++i) {
            EXPECT_EQ(results[i].failed, i % 2 == 1);
            EXPECT_EQ(results[i].text, "piece " + std::to_string(i));
        }
    }
    run(0, 3, [](size_t) { return WorkResult(); });
}

TEST_F(Workers, InheritFiles)
{
    WorkerPool pool(2);
    for (int i = 0; i < 50; ++i) {
        Fd file(::memfd_create("piece", MFD_CLOEXEC));
        ASSERT_GT(::dprintf(file.get(), "text %d", i), 0);
        ASSERT_TRUE(pool.add([&]() -> WorkResult {
            char text[20] = "";
            return {::pread(file.get(), text, sizeof text, 0) <= 0, text};
        }));
    }
    const auto results = pool.finish([] {});
    ASSERT_EQ(results.size(), 50u);
    for (size_t i = 0; i < 50; ++i)
        EXPECT_EQ(results[i].text, "text " + std::to_string(i));
}

TEST_F(Workers, OthersGoOnWhenOneDies)
{
    const auto results = run(20, 2, [](size_t i) -> WorkResult {
        if (i % 5 == 0)
            ::raise(SIGKILL);
        if (i % 5 == 1)
            ::_exit(9);
        return {false, std::string(i == 2 ? 5000 : 0, 'x')}; // cut to 4,000 bytes
    });
    for (size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].failed, i % 5 <= 1) << i;
        EXPECT_EQ(results[i].text, i % 5 == 0   ? "its process was ended by signal 9"
                                   : i % 5 == 1 ? "its process ended with status 9"
                                                : std::string(i == 2 ? 4000 : 0, 'x'));
    }
}

} // namespace

} // namespace btflink::kernel
