// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Changes a regular file so that it is always either the old one or the new one (write_file() has
// exceptions). Usually the new part is appended and the header written last. If old bytes must go,
// a new file replaces the old one.
#include "common/io/file_io.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace btflink
{

void ByteParts::add(Bytes part)
{
    size_ += part.size();
    if (!part.empty())
        list_.push_back(part);
}

void ByteParts::add(std::vector<std::byte> part)
{
    owned_.push_back(std::move(part));
    add(Bytes(owned_.back()));
}

std::vector<Bytes> FileChange::parts(Bytes before) const
{
    std::vector<Bytes> parts = rebuilt.list();
    if (parts.empty())
        parts.push_back(before.first(kept));
    size_t replaced = header.size();
    for (Bytes &part : parts) {
        size_t n = std::min(part.size(), replaced);
        part = part.subspan(n);
        replaced -= n;
    }
    parts.insert(parts.begin(), header);
    parts.push_back(tail);
    return parts;
}

std::vector<std::byte> FileChange::whole(Bytes before) const
{
    std::vector<std::byte> bytes;
    for (Bytes part : parts(before))
        bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
}

bool FileChange::changes(Bytes before) const
{
    for (Bytes part : parts(before)) {
        // Parts that stay in place need not be compared.
        bool same = part.size() <= before.size() &&
                    (part.empty() || part.data() == before.data() ||
                     std::memcmp(part.data(), before.data(), part.size()) == 0);
        if (!same)
            return true;
        before = before.subspan(part.size());
    }
    return !before.empty();
}

namespace
{

bool write_at(int fd, Bytes bytes, uint64_t offset)
{
    while (!bytes.empty()) {
        ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        bytes = bytes.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
    return true;
}

Result<void> append_to(const std::string &path, Fd &fd, Bytes before, const FileChange &change)
{
    // Copied because `before` may be a mapping of this very file.
    const Bytes start = before.first(change.header.size());
    const std::vector<std::byte> old_header(start.begin(), start.end());
    bool ok =
        write_at(fd.get(), change.tail, before.size()) && write_at(fd.get(), change.header, 0);
    if (!ok) {
        auto error = fail_errno(Where{path}, "cannot append to the file");
        // With the old header, the file is valid even if the appended bytes remain.
        bool restored = write_at(fd.get(), old_header, 0) &&
                        ::ftruncate(fd.get(), static_cast<off_t>(before.size())) == 0;
        if (!restored)
            return fail_errno(Where{path}, "cannot append to the file, nor restore it");
        return error;
    }
    if (!fd.close())
        return fail_errno(Where{path}, "cannot append to the file");
    return {};
}

/// Error: `path` no longer names the open file, or that file no longer holds `before`. Compares
/// only size and ELF header: if another program has appended by update_file(), these differ.
Result<void> check_as_before(const std::string &path, const Fd &fd, Bytes before)
{
    struct stat st, named;
    if (::fstat(fd.get(), &st) != 0 || ::stat(path.c_str(), &named) != 0)
        return fail_errno(Where{path}, "cannot stat");
    std::vector<std::byte> start(std::min<size_t>(before.size(), sizeof(Elf64_Ehdr)));
    ssize_t n = ::pread(fd.get(), start.data(), start.size(), 0);
    // Another program may have replaced the file while we waited for the lock.
    const bool replaced = st.st_dev != named.st_dev || st.st_ino != named.st_ino;
    if (replaced || static_cast<uint64_t>(st.st_size) != before.size() ||
        n != static_cast<ssize_t>(start.size()) ||
        !std::equal(start.begin(), start.end(), before.begin()))
        return fail(Where{path}, "the file was changed since it was read");
    return {};
}

} // namespace

Result<void> check_as_before(const std::string &path, Bytes before)
{
    struct stat st;
    if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode))
        return {};
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return fd.get() < 0 ? Result<void>() : check_as_before(path, fd, before);
}

Result<void> update_file(const std::string &path, Bytes before, const FileChange &change)
{
    if (!change.changes(before))
        return {};
    struct stat st;
    if (::stat(path.c_str(), &st) != 0)
        return fail_errno(Where{path}, "cannot stat");
    if (!S_ISREG(st.st_mode))
        return write_file(path, change.parts(before));
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (fd.get() < 0)
        return fail_errno(Where{path}, "cannot write");
    // Protects against two programs that append at once. The lock is held until the file is closed.
    // An error is ignored, because some file systems have no locks.
    (void)::flock(fd.get(), LOCK_EX);
    TRY(check_as_before(path, fd, before));
    if (change.rebuilt.size() == 0 && change.kept == before.size())
        return append_to(path, fd, before, change);
    return write_file(path, change.parts(before));
}

} // namespace btflink
