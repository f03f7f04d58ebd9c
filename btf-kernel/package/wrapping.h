// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Wrappings: the formats in which firmware and boot loaders expect a kernel.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <string>

namespace btflink::kernel
{

/// The content of a wrapping: a kernel, compressed or not, or another wrapping.
struct Payload {
    Bytes bytes;
    std::string release = {}; // by the wrapping's header; empty: not known
    /// The payload begins with code that unpacks the compressed data behind it. Its last four bytes
    /// are the unpacked size, which Kbuild appends.
    bool behind_code = false;
};

struct Wrapping {
    const char *name;
    size_t header; // open() needs so many bytes
    bool (*begins)(Bytes file);
    /// Null: the file is the kernel itself, as it is in memory. Errors: the file is damaged, or has
    /// no kernel.
    Result<Payload> (*open)(Bytes file, const Where &where);
};

/// The wrapping of a file; null: not known.
const Wrapping *find_wrapping(Bytes file);

} // namespace btflink::kernel
