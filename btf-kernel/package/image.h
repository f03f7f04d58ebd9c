// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the parts of a vmlinux, module or boot image that concern BTF. A boot image may be
// compressed, and wrapped in a format that firmware and boot loaders expect.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "common/io/bytes.h"

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
