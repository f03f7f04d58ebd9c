// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What firmware and boot loaders want around a kernel: headers that say where it lies.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <string>

namespace btflink::kernel
{

/// What a wrapping is around: compressed or not, perhaps another wrapping.
struct Payload {
    Bytes bytes;
    std::string release = {}; // that the wrapping tells; empty: it does not
    /// The last four bytes are the size of what comes out, as Kbuild appends it, and the compressed
    /// data begin somewhere: code that unpacks them comes first.
    bool behind_code = false;
};

struct Wrapping {
    const char *name;
    size_t header; // bytes without which open() must not be called
    bool (*begins)(Bytes file);
    /// Null: it is the kernel itself, as it is in memory. Errors: the file is damaged, or has no
    /// kernel.
    Result<Payload> (*open)(Bytes file, const Where &where);
};

/// The wrapping that the file has; null: none that is known.
const Wrapping *find_wrapping(Bytes file);

/// `length` bytes from `start`. Error: they are not in the file; `name` is that of the wrapping.
Result<Bytes> part_of(Bytes file, uint64_t start, uint64_t length, const char *name,
                      const Where &where);

/// The kernel in a flattened image tree, U-Boot's FIT. Errors: it is damaged, or has no kernel.
Result<Payload> open_fit(Bytes file, const Where &where);

} // namespace btflink::kernel
