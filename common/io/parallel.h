// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs independent pieces of work on a few threads. Callers store results by index, so that the
// results do not depend on the number of threads.
#pragma once

#include "common/io/trace.h"
#include "common/result.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace btflink
{

constexpr unsigned max_threads = 1024; // the most that options accept

/// The number of threads that can run at the same time, at most max_threads; 1 if it is unknown.
inline unsigned processors()
{
    return std::clamp(std::thread::hardware_concurrency(), 1u, max_threads);
}

/// Calls work(i) once for each i below `count`, on up to `threads` threads, one of which is the
/// caller's.
template <typename Work>
void parallel_for(size_t count, unsigned threads, Work work)
{
    threads = static_cast<unsigned>(std::min<size_t>(threads, count));
    if (threads <= 1) {
        for (size_t i = 0; i < count; ++i)
            work(i);
        return;
    }
    std::atomic<size_t> next{0};
    auto run = [&] {
        trace::Phase phase("worker");
        for (size_t i = next++; i < count; i = next++)
            work(i);
    };
    std::vector<std::thread> others;
    others.reserve(threads - 1);
    for (unsigned t = 1; t < threads; ++t)
        others.emplace_back(run);
    run();
    for (std::thread &thread : others)
        thread.join();
}

/// parallel_for() for work that returns Result<void>. Does all the work even after an error.
/// Returns the error with the lowest index.
template <typename Work>
Result<void> parallel_try(size_t count, unsigned threads, Work work)
{
    std::vector<std::optional<Error>> errors(count);
    parallel_for(count, threads, [&](size_t i) {
        if (Result<void> done = work(i); !done)
            errors[i] = std::move(done).error();
    });
    for (std::optional<Error> &error : errors)
        if (error)
            return fail(std::move(*error));
    return {};
}

} // namespace btflink
