// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Each compression is a function that returns the next bytes, and whether they are the last.
#include "btf-kernel/package/inflate.h"

#include <algorithm>
#include <memory>
#include <zlib.h>
#include <zstd.h>

namespace btflink::kernel
{

namespace
{

struct EndInflate {
    void operator()(z_stream *stream) const
    {
        inflateEnd(stream);
        delete stream;
    }
};

} // namespace

Result<Unpacked> Unpacked::open(Bytes packed, Packing packing, const Where &where)
{
    if (packing == Packing::none)
        return Unpacked([packed](std::span<std::byte> out) mutable -> Result<Step> {
            const size_t size = std::min(out.size(), packed.size());
            std::copy_n(packed.begin(), size, out.begin());
            packed = packed.subspan(size);
            return Step{size, packed.empty()};
        });

    if (packing == Packing::zstd) {
        const std::shared_ptr<ZSTD_DStream> stream(ZSTD_createDStream(), ZSTD_freeDStream);
        CHECK(stream != nullptr);
        return Unpacked([=, in = ZSTD_inBuffer{packed.data(), packed.size(), 0},
                         whole = true](std::span<std::byte> out) mutable -> Result<Step> {
            if (whole && in.pos == in.size)
                return Step{0, true};
            ZSTD_outBuffer to{out.data(), out.size(), 0};
            const size_t left = ZSTD_decompressStream(stream.get(), &to, &in);
            if (ZSTD_isError(left))
                return fail(where, std::string("cannot be unpacked: ") + ZSTD_getErrorName(left));
            whole = left == 0;
            // Output can remain without new input, but only if `out` was filled.
            if (!whole && in.pos == in.size && to.pos < to.size)
                return fail(where, "is cut off");
            return Step{to.pos, false};
        });
    }

    const std::shared_ptr<z_stream> stream(new z_stream(), EndInflate());
    constexpr int no_header = -15;
    CHECK(inflateInit2(stream.get(), no_header) == Z_OK);
    return Unpacked([=](std::span<std::byte> out) mutable -> Result<Step> {
        constexpr size_t most = 1 << 30; // zlib counts in 32 bits
        const size_t room = std::min(out.size(), most);
        const size_t given = std::min(packed.size(), most);
        stream->next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(packed.data()));
        stream->avail_in = static_cast<uInt>(given);
        stream->next_out = reinterpret_cast<Bytef *>(out.data());
        stream->avail_out = static_cast<uInt>(room);
        const int status = inflate(stream.get(), Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
            return fail(where, std::string("cannot be unpacked: ") +
                                   (stream->msg ? stream->msg : "unknown reason"));
        packed = packed.subspan(given - stream->avail_in);
        if (status != Z_STREAM_END && packed.empty() && stream->avail_out)
            return fail(where, "is cut off");
        return Step{room - stream->avail_out, status == Z_STREAM_END};
    });
}

Result<size_t> Unpacked::read(std::span<std::byte> out)
{
    size_t done = 0;
    while (!end_ && done < out.size()) {
        const Step step = TRY(read_(out.subspan(done)));
        done += step.size;
        end_ = step.end;
    }
    return done;
}

} // namespace btflink::kernel
