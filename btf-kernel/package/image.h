// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The kernel inside a bootable image, whatever is around it (wrapping.h), compressed or not.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <memory>
#include <string>

namespace btflink::kernel
{

/// A kernel without wrappings.
struct BareImage {
    enum class Form : uint8_t { elf, btf, flat };
    Form form = Form::flat; // flat: memory as it is when the kernel starts
    Bytes bytes;
    std::shared_ptr<const void> owner; // of bytes
    std::string release;               // that a wrapping told
};

/// Take the wrappings off. `owner` keeps `file`. Errors: what is inside is damaged, larger than the
/// limits, or nothing that is known.
Result<BareImage> bare_image(Bytes file, std::shared_ptr<const void> owner, const Where &where);

/// Does it begin as vmlinux, raw BTF or an image with a header does? Compressed ones do not.
bool is_image(Bytes file);
/// Does it begin as raw BTF does?
bool is_btf(Bytes file);
/// The byte order that raw BTF says.
ByteOrder order_of_btf(Bytes btf);

/// The BTF in a flat image; empty: there is none.
Bytes find_btf(Bytes flat);
/// .BTF_ids of a flat image, perhaps with zeros behind it; empty: not found. `btf`: that of
/// find_btf(flat).
Bytes find_btf_ids(Bytes flat, Bytes btf);

/// The rest of a line "Linux version " in memory, which begins with the release; empty: none.
std::string find_banner(Bytes memory);

/// The configuration that the kernel has inside (CONFIG_IKCONFIG); empty: none.
std::string find_config(Bytes memory, const Where &where);

} // namespace btflink::kernel
