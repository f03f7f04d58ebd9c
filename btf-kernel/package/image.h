// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The kernel inside a boot image, which may be compressed and wrapped (wrapping.h).
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <memory>
#include <string>

namespace btflink::kernel
{

/// A kernel without wrappings and compression.
struct BareImage {
    enum class Form : uint8_t { elf, btf, flat };
    Form form = Form::flat; // flat: memory as it is when the kernel starts
    Bytes bytes;
    std::shared_ptr<const void> owner; // keeps `bytes` alive
    std::string release;               // by the header of a wrapping
};

/// Remove wrappings and compression. `owner` keeps the bytes of `file` alive. Errors: the contents
/// are damaged, larger than the limits, or of an unknown kind.
Result<BareImage> bare_image(Bytes file, std::shared_ptr<const void> owner, const Where &where);

/// Does the file begin like ELF, raw BTF or a known wrapping? False for compressed files.
bool is_image(Bytes file);
/// Does the file begin like raw BTF?
bool is_btf(Bytes file);
/// The byte order by the magic number of raw BTF.
ByteOrder order_of_btf(Bytes btf);

/// Search a flat image for BTF; empty: not found.
Bytes find_btf(Bytes flat);
/// Search a flat image for .BTF_ids; empty: not found. Zeros may follow the section. `btf`: the
/// result of find_btf(flat).
Bytes find_btf_ids(Bytes flat, Bytes btf);

/// Search memory for the banner: the text after "Linux version ", which begins with the release;
/// empty: not found.
std::string find_banner(Bytes memory);

/// Search memory for the configuration that CONFIG_IKCONFIG puts there; empty: not found.
std::string find_config(Bytes memory, const Where &where);

} // namespace btflink::kernel
