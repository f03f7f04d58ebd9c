// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What is kept of a vmlinux or module: its BTF, and what its symbols tell of that.
#pragma once

#include "btf-kernel/package/kernel.h"

namespace btflink::kernel
{

/// `file`: an ELF file.
Result<Binary> read_binary(Bytes file, const Where &where);
/// The release that the ELF file of a vmlinux states; empty: it does not, or cannot be read.
std::string release_of(Bytes file);
/// `file`: raw BTF.
Binary raw_binary(Bytes file, const Where &where);

struct ImageFacts {
    Binary binary;
    std::string release, config, banner; // that the image says; empty: nothing
};
/// Any image of a kernel. `owner` keeps `file`.
Result<ImageFacts> read_image(Bytes file, std::shared_ptr<const void> owner, const Where &where);

} // namespace btflink::kernel
