// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Whole files in, whole files out. Output appears complete under its name or not at all: it is
// written to a private temporary file in the same folder, then renamed over the target.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink
{

/// The file's contents, read (not mapped: a file that shrinks meanwhile must not kill us).
/// Regular files, and anything else that can be read to its end (/sys/kernel/btf/vmlinux, pipes).
/// It is also an error if there are more than `most` bytes, or more than 1 GB if it may be endless.
Result<std::vector<std::byte>> read_file(const std::string &path, size_t most = SIZE_MAX);

/// Contents of a regular file in memory that is not written before they are read into it.
class FilePages
{
public:
    static Result<FilePages> read(const std::string &path);
    FilePages(FilePages &&other) noexcept;
    FilePages &operator=(FilePages &&) = delete;
    ~FilePages();

    Bytes bytes() const { return {data_, size_}; }

private:
    FilePages() = default;

    std::byte *data_ = nullptr;
    size_t size_ = 0;
};

/// Whether both paths lead to the same regular file, whatever its names.
bool same_file(const std::string &a, const std::string &b);

/// Replace (or create) `path` by `bytes`. An existing file keeps its mode and ownership; a
/// symbolic link is followed. On error the old file is untouched and no temporary is left.
/// A target that is not a regular file (/dev/null, a pipe) is written directly. So is standard
/// output, unless it is a terminal.
Result<void> write_file(const std::string &path, Bytes bytes);
/// The same for several parts, written one after the other.
Result<void> write_file(const std::string &path, std::span<const Bytes> parts);

constexpr const char *standard_output = "/dev/stdout";
/// The output path that a word of a command line means; "-" means standard output.
std::string output_path(const std::string &word);

/// Would write_file() be allowed to write `path`? Reports an error before a long run instead of
/// after it. Creates and changes nothing.
Result<void> check_writable(const std::string &path);

} // namespace btflink
