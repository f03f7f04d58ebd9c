// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads and writes whole files. Output appears completely or not at all: it is written to a
// temporary file in the same folder, which then replaces the target by rename.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink
{

/// Reads a file: a regular one, or anything else that has an end (/sys/kernel/btf/vmlinux, a pipe).
/// It is not mapped, so it may shrink or change. Errors include more than `most` bytes, or more
/// than 1 GB of something that may be endless.
Result<std::vector<std::byte>> read_file(const std::string &path, size_t most = SIZE_MAX);

/// The folder of a path with its final slash; empty for the current folder.
inline std::string folder_of(const std::string &path)
{
    return path.substr(0, path.rfind('/') + 1); // npos + 1 is 0
}

/// Do both paths lead to the same regular file?
bool same_file(const std::string &a, const std::string &b);

/// Replaces or creates `path`. An existing file keeps its mode and ownership; a
/// symbolic link is followed. On error the old file is untouched and no temporary is left.
/// A target that is not a regular file (/dev/null, a pipe) is written directly. So is standard
/// output, unless it is a terminal.
Result<void> write_file(const std::string &path, Bytes bytes);
/// The same with contents in several parts.
Result<void> write_file(const std::string &path, std::span<const Bytes> parts);

constexpr const char *standard_output = "/dev/stdout";
/// The path for an argument of a command line; "-" is standard output.
std::string output_path(const std::string &word);

/// Checks whether write_file() may write `path`, so that a long run fails at its start, not at its
/// end. Changes nothing.
Result<void> check_writable(const std::string &path);

} // namespace btflink
