// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/input/read_once.h"

#include "common/io/fd.h"
#include "merge/parallel.h"

#include <array>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace btflink::merge
{

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

/// The sum of `size` bytes of the file from `offset` on; nothing if they cannot be read.
std::optional<uint64_t> sum_of_file(int fd, uint64_t offset, uint64_t size)
{
    thread_local std::array<std::byte, 1 << 16> buffer; // stays in the cache
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

/// One try; its time.
double read_trailers(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                     unsigned threads)
{
    using Clock = std::chrono::steady_clock;
    constexpr size_t stride = 16; // objects that are had at once
    std::atomic<uint64_t> total{0};
    Clock::time_point start = Clock::now();
    parallel_for((objects.size() + stride - 1) / stride, threads, [&](size_t part) {
        Fd fd(-1);
        uint32_t opened = UINT32_MAX; // the input that `fd` is
        uint64_t mine = 0;
        for (size_t i = part * stride; i < std::min(objects.size(), (part + 1) * stride); ++i) {
            const Input &input = inputs[objects[i].input];
            Bytes trailer = objects[i].trailer_bytes;
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
    // The sum is looked at, so that no compiler leaves out what it is made of.
    return total == 0 && objects.empty() ? 0 : spent.count();
}

} // namespace

void count_bytes(const std::vector<Object> &objects, const Btf *base, Stats &stats)
{
    uint64_t blobs = 0, hashes = 0, trailers = 0;
    for (const Object &o : objects) {
        blobs += btf::header_size + o.btf.words().size_bytes() + o.btf.str_size();
        if (!o.has_trailer)
            continue;
        hashes += o.hashes.size();
        trailers += o.trailer_bytes.size() - o.hashes.size();
    }
    stats.add("bytes_read.types", blobs);
    stats.add("bytes_read.hashes", hashes);
    stats.add("bytes_read.trailers", trailers);
    stats.add("bytes_read.base", base ? base->blob_size() : 0);
}

double read_once(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                 unsigned threads)
{
    constexpr int tries = 3;
    double best = read_trailers(inputs, objects, threads);
    for (int i = 1; i < tries; ++i)
        best = std::min(best, read_trailers(inputs, objects, threads));
    return best;
}

} // namespace btflink::merge
