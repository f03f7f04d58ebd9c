// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Archives and compressed files, by libarchive. All of it in memory, within limits.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace btflink::kernel
{

struct ArchiveVisitor {
    /// How many bytes of a member are wanted at most; 0: it is not. `path`: clean.
    std::function<uint64_t(const std::string &path)> wants;
    /// A regular member that is wanted. Of a file that is compressed and no archive: the path "".
    std::function<Result<void>(const std::string &path, std::vector<std::byte> bytes)> take;
    /// One that is wanted, but is a link or a device, has a path that leads elsewhere, or is too
    /// large.
    std::function<void(Error)> refuse;
};

struct WantedMember {
    std::string path; // clean
    uint64_t most;    // bytes
    Where where;
};

/// A member of the archive at `archive`, of `size` bytes as far as the archive says. Nothing: it is
/// not wanted, or refuse() has got the reason; `flaw` is one, or null.
std::optional<WantedMember> wanted_member(const ArchiveVisitor &visitor, const std::string &archive,
                                          std::string_view name, uint64_t size, const char *flaw);

/// Go through the members of the file at `path`: a Debian package (the members of its data), an RPM
/// or cpio archive, a tar archive, each compressed or not; Alpine's packages, of both versions; or
/// a compressed file. Errors: it is none of these; it is damaged (members before the damage were
/// given); take()'s.
Result<void> walk_archive(const std::string &path, const ArchiveVisitor &visitor);

/// Unpack compressed bytes: gzip, xz, lzma, bzip2, zstd, lz4. Errors: more than `most` bytes come
/// out; it is damaged; it is not compressed.
Result<std::vector<std::byte>> unpack(Bytes bytes, uint64_t most, const Where &where);

/// Does it begin as compressed bytes do?
bool is_compressed(Bytes bytes);

} // namespace btflink::kernel
