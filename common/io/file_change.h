// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes a file without copying the parts that stay. At any time the file is either the old or the
// new one.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <string>
#include <vector>

namespace btflink
{

/// A file's bytes, gathered from several places.
class ByteParts
{
public:
    /// `part` must outlive the ByteParts.
    void add(Bytes part);
    void add(std::vector<std::byte> part);
    uint64_t size() const { return size_; }
    const std::vector<Bytes> &list() const { return list_; }

    ByteParts() = default;
    ByteParts(ByteParts &&) = default; // not copied: list_ points into owned_
    ByteParts &operator=(ByteParts &&) = default;

private:
    std::vector<Bytes> list_;
    std::vector<std::vector<std::byte>> owned_;
    uint64_t size_ = 0;
};

struct FileChange {
    std::vector<std::byte> header; // replaces the first bytes
    uint64_t kept = 0;             // the first bytes of the file stay, except for the header ...
    ByteParts rebuilt;             // ... or, if not empty, this replaces them
    std::vector<std::byte> tail;   // is appended

    /// The new file's bytes, one part after the other.
    std::vector<Bytes> parts(Bytes before) const;
    std::vector<std::byte> whole(Bytes before) const;
    bool changes(Bytes before) const;
};

/// Error: the regular file `path` no longer holds `before`, judged by its size and ELF header.
/// Unreadable files are not an error.
Result<void> check_as_before(const std::string &path, Bytes before);

/// Changes the file at `path`, which held `before`. Writes only if something changes. If all of the
/// old file stays except for its header, the addition is appended first and the header written
/// last; the file keeps its inode, links and mode. Otherwise the file is replaced by rename.
/// `before` may be a mapping of the file.
Result<void> update_file(const std::string &path, Bytes before, const FileChange &change);

} // namespace btflink
