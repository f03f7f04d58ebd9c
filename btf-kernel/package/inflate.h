// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compressed streams without a file format around them, which libarchive does not read.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <functional>

namespace btflink::kernel
{

enum class Packing { none, deflate, zstd };

/// Bytes that are unpacked as they are read.
class Unpacked
{
public:
    /// `packed` must outlive the result. Error: out of memory.
    static Result<Unpacked> open(Bytes packed, Packing packing, const Where &where);

    /// Fills `out`. Fewer bytes mean the end. Error: `packed` is damaged or cut off.
    Result<size_t> read(std::span<std::byte> out);

private:
    /// What came out, and whether that was all.
    struct Step {
        size_t size;
        bool end;
    };
    using Read = std::function<Result<Step>(std::span<std::byte> out)>;
    explicit Unpacked(Read read) : read_(std::move(read)) {}

    Read read_;
    bool end_ = false;
};

} // namespace btflink::kernel
