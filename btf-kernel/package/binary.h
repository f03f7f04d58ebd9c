// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the parts of a vmlinux or module that concern BTF.
#pragma once

#include "btf-kernel/package/kernel.h"

namespace btflink::kernel
{

/// `file`: an ELF file.
Result<Binary> read_binary(Bytes file, const Where &where);
/// The release in the banner of a vmlinux, an ELF file; empty: there is no banner, or the file
/// cannot be read.
std::string release_of(Bytes file);
/// `file`: raw BTF.
Binary raw_binary(Bytes file, const Where &where);

struct ImageFacts {
    Binary binary;
    std::string release, config, banner; // empty: not in the image
};
/// Any image of a kernel. `owner` keeps the bytes of `file` alive.
Result<ImageFacts> read_image(Bytes file, std::shared_ptr<const void> owner, const Where &where);

} // namespace btflink::kernel
