// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the parts of a vmlinux, module or boot image that concern BTF. A boot image may be
// compressed, and wrapped in a format that firmware and boot loaders expect.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "common/io/bytes.h"

namespace btflink::kernel
{

bool is_elf(Bytes file); // by the magic number

/// Does the file begin like ELF, raw BTF or a known wrapping? False for compressed files.
bool is_image(Bytes file);

/// The content of a wrapping: a kernel, compressed or not, or another wrapping.
struct Payload {
    Bytes bytes;
    std::string release = {}; // from the wrapping's header; empty: not known
    /// The payload begins with code, which unpacks the compressed data after it. The last four
    /// bytes of the payload are the unpacked size, which Kbuild appends; zeros may follow it. If
    /// the kernel is not compressed, it follows the code as it is in memory.
    bool after_code = false;
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

/// A module: an ELF file, compressed or not, or raw BTF.
Result<Binary> read_module(Bytes file, const Where &where);

/// The release in the banner of a vmlinux, an ELF file; empty: there is no banner, or the file
/// cannot be read.
std::string release_of(Bytes file);

struct ImageFacts {
    Binary binary;
    std::string release, config, banner; // empty: not in the image
};
/// Any image of a kernel. `owner` keeps the bytes of `file` alive.
Result<ImageFacts> read_image(Bytes file, std::shared_ptr<const void> owner, const Where &where);

} // namespace btflink::kernel
