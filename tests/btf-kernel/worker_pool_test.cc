// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pieces of work in processes of their own: all are accounted for, however processes end.
#include "btf-kernel/encode/worker_pool.h"

#include <csignal>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

namespace btflink::kernel
{

namespace
{

using State = WorkResult::State;

bool die_at_once = false; // of a process that has just been started

class Workers : public testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        pthread_atfork(nullptr, nullptr, [] {
            if (die_at_once)
                ::_exit(3);
        });
    }
    void SetUp() override { ::alarm(120); } // nothing may take forever
    void TearDown() override
    {
        die_at_once = false;
        ::alarm(0);
    }

    static Result<std::vector<WorkResult>> run(size_t count, unsigned workers,
                                               const WorkerPool::Work &work)
    {
        WorkerPool pool(workers, work);
        for (size_t i = 0; i < count; ++i)
            TRY(pool.add("piece " + std::to_string(i)));
        return pool.finish([] {});
    }
};

TEST_F(Workers, Results)
{
    for (unsigned workers : {1u, 3u, 40u}) {
        const auto results = run(100, workers, [](const Piece &piece) -> WorkResult {
            return {piece.number % 2 ? State::done : State::skipped, piece.name};
        });
        ASSERT_TRUE(results) << results.error().str();
        ASSERT_EQ(results->size(), 100u);
        for (size_t i = 0; i < 100; ++i) {
            EXPECT_EQ((*results)[i].state, i % 2 ? State::done : State::skipped);
            EXPECT_EQ((*results)[i].text, "piece " + std::to_string(i));
        }
    }
    EXPECT_EQ(run(0, 3, [](const Piece &) { return WorkResult(); })->size(), 0u);
}

TEST_F(Workers, Files)
{
    WorkerPool pool(2, [](const Piece &piece) -> WorkResult {
        char text[20] = "";
        return {::pread(piece.file, text, sizeof text, 0) > 0 ? State::done : State::failed, text};
    });
    for (int i = 0; i < 50; ++i) {
        Fd file(::memfd_create("piece", MFD_CLOEXEC));
        ASSERT_GT(::dprintf(file.get(), "text %d", i), 0);
        ASSERT_TRUE(pool.add("x", file.get()));
    }
    const auto results = pool.finish([] {});
    ASSERT_TRUE(results);
    for (size_t i = 0; i < 50; ++i)
        EXPECT_EQ((*results)[i].text, "text " + std::to_string(i));
}

TEST_F(Workers, OthersGoOnWhenOneDies)
{
    const auto results = run(20, 2, [](const Piece &piece) -> WorkResult {
        if (piece.number % 5 == 0)
            ::raise(SIGKILL);
        if (piece.number % 5 == 1)
            ::_exit(9);
        return {State::done, ""};
    });
    ASSERT_TRUE(results) << results.error().str();
    for (size_t i = 0; i < 20; ++i) {
        EXPECT_EQ((*results)[i].state, i % 5 > 1 ? State::done : State::failed) << i;
        EXPECT_EQ((*results)[i].text, i % 5 == 0   ? "its process was ended by signal 9"
                                      : i % 5 == 1 ? "its process ended with 9"
                                                   : "");
    }
}

TEST_F(Workers, EndIfAllDieAtOnce)
{
    die_at_once = true;
    const auto results = run(5, 2, [](const Piece &) -> WorkResult { return {State::done, ""}; });
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().str(), "processes end as soon as they are started");
}

TEST_F(Workers, LongNames)
{
    WorkerPool pool(1, [](const Piece &piece) -> WorkResult {
        return {State::done, std::to_string(piece.name.size()) + std::string(1000, 'x')};
    });
    ASSERT_TRUE(pool.add(std::string(4096, 'a')));
    ASSERT_TRUE(pool.add(std::string(4097, 'a')));
    const auto results = pool.finish([] {});
    ASSERT_TRUE(results);
    EXPECT_EQ((*results)[0].text, "4096" + std::string(496, 'x'));
    EXPECT_EQ((*results)[1].state, State::failed);
}

} // namespace

} // namespace btflink::kernel
