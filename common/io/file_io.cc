// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads and writes whole files.
#include "common/io/file_io.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace btflink
{

namespace
{

constexpr size_t most_of_endless = 1 << 30; // bytes of a file without a size: /dev/zero, a pipe

/// Writes with few system calls, because an object has many small sections.
bool write_all(int fd, std::span<const Bytes> parts)
{
    std::vector<iovec> left;
    left.reserve(parts.size());
    for (Bytes part : parts)
        if (!part.empty())
            left.push_back({const_cast<std::byte *>(part.data()), part.size()});
    for (size_t at = 0; at < left.size();) {
        const size_t count = std::min<size_t>(left.size() - at, IOV_MAX);
        ssize_t n = ::writev(fd, &left[at], static_cast<int>(count));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        auto wrote = static_cast<size_t>(n);
        for (; at < left.size() && wrote >= left[at].iov_len; ++at)
            wrote -= left[at].iov_len;
        if (wrote > 0) {
            left[at].iov_base = static_cast<std::byte *>(left[at].iov_base) + wrote;
            left[at].iov_len -= wrote;
        }
    }
    return true;
}

Result<void> write_directly(const std::string &path, std::span<const Bytes> parts)
{
    Fd fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (fd.get() < 0 || !write_all(fd.get(), parts) || !fd.close())
        return fail_errno(Where{path}, "cannot write");
    return {};
}

Result<void> refuse_terminal()
{
    if (::isatty(STDOUT_FILENO))
        return fail(Where{"standard output"}, "is a terminal");
    return {};
}

/// Uses the open descriptor: it may be open for appending, or its file may have no name.
Result<void> write_standard_output(std::span<const Bytes> parts)
{
    TRY(refuse_terminal());
    if (!write_all(STDOUT_FILENO, parts))
        return fail_errno(Where{"standard output"}, "cannot write");
    return {};
}

bool is_same(const struct stat &a, const struct stat &b)
{
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Follows symbolic links, also dangling ones.
std::string resolve_links(const std::string &path)
{
    std::string target = path;
    for (int hops = 0; hops < 40; ++hops) {
        char buffer[PATH_MAX];
        ssize_t n = ::readlink(target.c_str(), buffer, sizeof buffer);
        if (n < 0 || n == static_cast<ssize_t>(sizeof buffer))
            break;
        std::string next(buffer, static_cast<size_t>(n));
        target = next.empty() || next[0] == '/' ? next : folder_of(target) + next;
    }
    return target;
}

/// Does the name belong to this file? A link in /proc/self/fd may lead to a file that has no name,
/// or whose name now belongs to another file.
bool has_name(const struct stat &file, const std::string &name)
{
    struct stat named;
    return ::lstat(name.c_str(), &named) == 0 && is_same(file, named);
}

} // namespace

Result<std::vector<std::byte>> read_file(const std::string &path, size_t most)
{
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0)
        return fail_errno(Where{path}, "cannot open");
    struct stat st;
    if (::fstat(fd.get(), &st) != 0)
        return fail_errno(Where{path}, "cannot stat");
    if (S_ISDIR(st.st_mode))
        return fail(Where{path}, "is a directory");
    auto too_long = [&] { return fail(Where{path}, strf("is longer than %zu bytes", most)); };
    if (!S_ISREG(st.st_mode))
        most = std::min(most, most_of_endless);
    else if (static_cast<uint64_t>(st.st_size) > most)
        return too_long();
    std::vector<std::byte> bytes(S_ISREG(st.st_mode) ? static_cast<size_t>(st.st_size) + 1 : 65536);
    size_t used = 0;
    for (;;) {
        const ssize_t n = ::read(fd.get(), bytes.data() + used, bytes.size() - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(Where{path}, "cannot read");
        if (n == 0)
            break;
        used += static_cast<size_t>(n);
        if (used > most)
            return too_long();
        if (used == bytes.size())
            bytes.resize(bytes.size() * 2);
    }
    bytes.resize(used);
    return bytes;
}

bool same_file(const std::string &a, const std::string &b)
{
    struct stat x, y;
    return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && S_ISREG(x.st_mode) &&
           is_same(x, y);
}

Result<void> write_file(const std::string &path, Bytes bytes)
{
    return write_file(path, std::span(&bytes, 1));
}

std::string output_path(const std::string &word)
{
    return word == "-" ? standard_output : word;
}

Result<void> write_file(const std::string &path, std::span<const Bytes> parts)
{
    if (path == standard_output)
        return write_standard_output(parts);
    struct stat st;
    bool exists = ::stat(path.c_str(), &st) == 0;
    if (!exists && errno == ELOOP) // rename() would replace one of the links
        return fail_errno(Where{path}, "cannot write");
    if (exists && S_ISDIR(st.st_mode))
        return fail(Where{path}, "cannot write: is a directory");
    if (exists && !S_ISREG(st.st_mode))
        return write_directly(path, parts);
    if (exists && ::access(path.c_str(), W_OK) != 0) // rename() would replace a read-only file
        return fail_errno(Where{path}, "cannot write");

    std::string target = resolve_links(path);
    // The name that a link in /proc/self/fd shows may no longer belong to the open file: then write
    // through the link. Only links are tested: if another program has replaced the file `path`
    // itself since stat(), rename() below replaces that program's file.
    if (exists && target != path && !has_name(st, target))
        return write_directly(path, parts);
    // The temporary name is not the target's name with a suffix, because that might be too long.
    // From 6.1 on, Kbuild's `make clean` removes files with this prefix, which remain if the
    // program is killed.
    std::string temp = folder_of(target) + ".tmp_btflink-XXXXXX";
    Fd fd(::mkostemp(temp.data(), O_CLOEXEC));
    if (fd.get() < 0)
        return fail_errno(Where{path}, "cannot create a temporary file in its folder");
    mode_t mode;
    if (exists) {
        mode = st.st_mode & 07777;
    } else {
        mode_t mask = ::umask(0);
        ::umask(mask);
        mode = 0666 & ~mask;
    }
    // If chown fails, the new file belongs to us, as with any editor. Then it must not have the
    // set-id bits, which were another owner's. chmod comes last, because chown clears these bits
    // and, except for root, each write does.
    struct stat made = {}; // in some folders, new files have the folder's group
    const bool same_owner = ::fstat(fd.get(), &made) == 0 && exists && st.st_uid == made.st_uid &&
                            st.st_gid == made.st_gid;
    if (exists && !same_owner && ::fchown(fd.get(), st.st_uid, st.st_gid) != 0)
        mode &= 01777;
    const bool ok = write_all(fd.get(), parts) && ::fchmod(fd.get(), mode) == 0 && fd.close() &&
                    ::rename(temp.c_str(), target.c_str()) == 0;
    if (!ok) {
        auto error = fail_errno(Where{path}, "cannot write");
        ::unlink(temp.c_str());
        return error;
    }
    return {};
}

Result<void> remove_output(const std::string &path)
{
    struct stat st;
    if (path == standard_output || ::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode))
        return {};
    const std::string target = resolve_links(path);
    const bool named = has_name(st, target);
    if ((named ? ::unlink(target.c_str()) : ::truncate(path.c_str(), 0)) != 0)
        return fail_errno(Where{path}, "is not the result of this run, but cannot be removed");
    return {};
}

Result<void> check_writable(const std::string &path)
{
    if (path == standard_output)
        return refuse_terminal();
    struct stat st;
    bool exists = ::stat(path.c_str(), &st) == 0;
    if (!exists && errno == ELOOP)
        return fail_errno(Where{path}, "cannot write");
    if (exists && S_ISDIR(st.st_mode))
        return fail(Where{path}, "cannot write: is a directory");
    if (exists && ::access(path.c_str(), W_OK) != 0)
        return fail_errno(Where{path}, "cannot write");
    if (exists && !S_ISREG(st.st_mode))
        return {};
    const std::string target = resolve_links(path), folder = folder_of(target);
    if (exists && target != path && !has_name(st, target))
        return {}; // no temporary file is needed
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
        return fail_errno(Where{path}, "cannot create a temporary file in its folder");
    return {};
}

Result<void> check_page_writable(const std::string &path)
{
    TRY(check_writable(path));
    struct stat st;
    if (path == standard_output || ::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) ||
        st.st_size == 0)
        return {};
    constexpr std::string_view begin = "<!doctype html";
    char first[begin.size()] = {};
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 || ::read(fd.get(), first, sizeof first) < 0)
        return fail_errno(Where{path}, "cannot read");
    auto is_equal = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    if (!std::ranges::equal(first, begin, is_equal))
        return fail(Where{path}, "exists and is not an HTML page; it would be overwritten");
    return {};
}

} // namespace btflink
