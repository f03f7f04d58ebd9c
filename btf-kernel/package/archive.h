// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Archives and compressed files, by libarchive, in memory and within limits.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace btflink::kernel
{

// Limits for unpacking untrusted packages, so that a small file cannot use up all memory: bytes,
// unpacked.
constexpr uint64_t most_of_module = uint64_t{1} << 30;
constexpr uint64_t most_of_image = uint64_t{4} << 30;
constexpr uint64_t most_of_text = 64 << 20;  // a configuration, a System.map
constexpr uint64_t most_of_ids = 1 << 20;    // .BTF_ids of a flat image
constexpr uint64_t most_pending = 128 << 20; // files that wait to be read together
constexpr size_t most_pending_files = 1024;
constexpr uint64_t most_kept = uint64_t{4} << 30; // BTF of all files
constexpr uint64_t most_members = 4'000'000;      // files of an archive or folder
constexpr unsigned most_nested = 4;               // compressed files within compressed files
constexpr unsigned most_depth = 64;               // nested folders

struct ArchiveVisitor {
    /// The largest size at which a member is wanted; 0: it is not wanted. `path`: by clean_path().
    std::function<uint64_t(const std::string &path)> wants;
    /// Takes a wanted regular member. The path "" stands for a compressed file that is not an
    /// archive.
    std::function<Result<void>(const std::string &path, std::vector<std::byte> bytes)> take;
    /// Takes the error for a wanted member that is a hard link or a device, has '..' in its path,
    /// or is too large.
    std::function<void(Error)> refuse;
    /// Takes the paths of all members before the first one is unpacked, if the archive has a list
    /// of them. An error ends the walk. May be empty.
    std::function<Result<void>(const std::vector<std::string> &paths)> list = {};
};

struct WantedMember {
    std::string path; // by clean_path()
    uint64_t most;    // bytes
    Where where;
};

/// Decides about a member of the archive at `archive`, which has `size` bytes by the archive's
/// header. `flaw`: why it must be refused, or null. Empty: the member is not wanted, or
/// visitor.refuse() got the reason.
std::optional<WantedMember> wanted_member(const ArchiveVisitor &visitor, const std::string &archive,
                                          std::string_view name, uint64_t size, const char *flaw);

/// Goes through the members of a Debian package (its data), an RPM, a cpio or tar archive,
/// compressed or not, an Alpine package (version 2 or 3), or through a compressed file. Errors: the
/// file is none of these; it is damaged (members before the damage were passed on); take() failed.
Result<void> walk_archive(const std::string &path, const ArchiveVisitor &visitor);

/// Alpine packages of version 3, compressed or not, which libarchive does not read (apk.cc). By the
/// magic number.
bool is_apk3(Bytes file);
/// As walk_archive(), for such a package.
Result<void> walk_apk3(Bytes file, const std::string &path, const ArchiveVisitor &visitor);

/// Unpacks compressed bytes: gzip, xz, lzma, bzip2, zstd, lz4. Errors: they unpack to more than
/// `most` bytes, are damaged, or are not compressed.
Result<std::vector<std::byte>> unpack(Bytes bytes, uint64_t most, const Where &where);

/// By the magic number.
bool is_compressed(Bytes bytes);

} // namespace btflink::kernel
