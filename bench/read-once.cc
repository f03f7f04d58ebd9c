// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Measures how long it takes to read the link trailers (hashes, functions, variables) of all inputs
// once. Every merge must do at least this, so the time is a lower bound for btf-merge. Prints
// milliseconds, the best of three runs.
//
//   read-once THREADS INPUT...
#include "common/io/file_io.h"
#include "common/io/parallel.h"
#include "merge/input/load_objects.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace btflink;
using namespace btflink::merge;

namespace
{

uint64_t sum(Bytes bytes)
{
    uint64_t total = 0, word;
    for (size_t i = 0; i + sizeof word <= bytes.size(); i += sizeof word) {
        std::memcpy(&word, bytes.data() + i, sizeof word);
        total += word;
    }
    return total;
}

/// Adds up `size` bytes of the file from `offset` on; returns nothing if they cannot be read.
std::optional<uint64_t> sum_of_file(int fd, uint64_t offset, uint64_t size)
{
    thread_local std::array<std::byte, 1 << 16> buffer; // stays in the processor's cache
    uint64_t total = 0;
    while (size) {
        ssize_t n = ::pread(fd, buffer.data(), std::min<uint64_t>(size, buffer.size()),
                            static_cast<off_t>(offset));
        if (n <= 0)
            return std::nullopt;
        total += sum(Bytes(buffer.data(), static_cast<size_t>(n)));
        offset += static_cast<uint64_t>(n);
        size -= static_cast<uint64_t>(n);
    }
    return total;
}

/// Reads all trailers; returns the time in milliseconds.
double read_trailers(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                     unsigned threads)
{
    using Clock = std::chrono::steady_clock;
    constexpr size_t stride = 16; // objects that a thread takes at once
    std::atomic<uint64_t> total{0};
    Clock::time_point start = Clock::now();
    parallel_for((objects.size() + stride - 1) / stride, threads, [&](size_t part) {
        Fd fd(-1);
        uint32_t opened = UINT32_MAX; // index of the input that is open as `fd`
        uint64_t mine = 0;
        for (size_t i = part * stride; i < std::min(objects.size(), (part + 1) * stride); ++i) {
            const Input &input = inputs[objects[i].input];
            Bytes trailer = objects[i].trailer_bytes;
            // The trailer is read from the input's file. If the input is a member of an archive, if
            // its section was compressed, or if reading fails, the copy in memory is read.
            bool as_is = !input.is_member && trailer.data() >= input.bytes.data() &&
                         trailer.data() + trailer.size() <= input.bytes.data() + input.bytes.size();
            if (as_is && opened != objects[i].input) {
                fd.reset(::open(input.where.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
                opened = objects[i].input;
            }
            std::optional<uint64_t> added;
            if (as_is)
                added = sum_of_file(fd.get(),
                                    static_cast<uint64_t>(trailer.data() - input.bytes.data()),
                                    trailer.size());
            mine += added ? *added : sum(trailer);
        }
        total += mine;
    });
    std::chrono::duration<double, std::milli> spent = Clock::now() - start;
    // The sum is used here so that the compiler does not remove the reads.
    return total == 0 && objects.empty() ? 0 : spent.count();
}

Result<double> measure(const std::vector<std::string> &names, unsigned threads)
{
    auto inputs = TRY(open_inputs(names, threads));
    auto loaded = TRY(load(inputs.list, ParseMode::by_samples, threads));
    double best = read_trailers(inputs.list, loaded.objects, threads);
    for (int i = 1; i < 3; ++i)
        best = std::min(best, read_trailers(inputs.list, loaded.objects, threads));
    return best;
}

} // namespace

int main(int argc, char **argv)
{
    const int threads = argc > 2 ? std::atoi(argv[1]) : 0;
    if (threads < 1) {
        std::fputs("usage: read-once THREADS INPUT...\n", stderr);
        return 2;
    }
    auto best = measure({argv + 2, argv + argc}, static_cast<unsigned>(threads));
    if (!best) {
        std::fprintf(stderr, "read-once: ERROR: %s\n", best.error().str().c_str());
        return 1;
    }
    std::printf("%.1f\n", *best);
    return 0;
}
