// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads, writes, maps and changes files. At any time a regular file is either the old or the new
// one (exceptions: see write_file()): output is written to a temporary file in the same folder,
// which then replaces the target by rename; or output is appended, and the header that makes it
// valid is written last.
#pragma once

#include "common/io/bytes.h"
#include "common/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace btflink
{

/// An open file, closed when it goes out of scope.
class Fd
{
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    Fd(const Fd &) = delete;
    Fd &operator=(const Fd &) = delete;
    ~Fd() { reset(-1); }

    int get() const { return fd_; }
    /// Closes the present descriptor, if any, and takes `fd`.
    void reset(int fd)
    {
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = fd;
    }
    /// Returns false and sets errno if written data could not be stored.
    bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

private:
    int fd_;
};

/// Reads a regular file, or anything else that has an end, such as a pipe. The file is not mapped,
/// so it may shrink or change afterwards. Errors include a file of more than `most` bytes, and one
/// of more than 1 GB that is not regular, because it may be endless.
Result<std::vector<std::byte>> read_file(const std::string &path, size_t most = SIZE_MAX);

/// The folder of a path with its final slash; empty for the current folder.
inline std::string folder_of(const std::string &path)
{
    return path.substr(0, path.rfind('/') + 1); // npos + 1 is 0
}

/// Do both paths lead to the same regular file?
bool same_file(const std::string &a, const std::string &b);

/// Replaces or creates the file `path` by rename. The new file gets the mode of the old one, and
/// its ownership if possible; a symbolic link is followed. On error the old file is untouched and
/// no temporary file is left. Some targets are written directly, and an error may leave them
/// incomplete: standard output, what is not a regular file (/dev/null, a pipe), and links in
/// /proc/self/fd to files without a name. Errors include standard output that is a terminal.
Result<void> write_file(const std::string &path, Bytes bytes);
/// The same with contents in several parts.
Result<void> write_file(const std::string &path, std::span<const Bytes> parts);

constexpr const char *standard_output = "/dev/stdout";
/// The path that `word` of a command line means; "-" means standard output.
std::string output_path(const std::string &word);

/// Removes the file that write_file() would replace, so that the output of an earlier run is not
/// taken for the output of this run. A symbolic link is followed and stays. A file without a name
/// (a link in /proc/self/fd leads to it) is emptied. Standard output and targets that are not
/// regular files are left alone.
Result<void> remove_output(const std::string &path);

/// Checks whether write_file() may write `path`, so that a long run fails at its start, not at its
/// end. Changes nothing.
Result<void> check_writable(const std::string &path);
/// The same for an HTML page. Also an error: `path` is a regular file that is neither empty nor an
/// HTML page. It may be an input that was named by mistake.
Result<void> check_page_writable(const std::string &path);

// file_parts.cc: maps input files, so that unused parts are never read, for example two thirds of a
// vmlinux.o of 1.5 GB.

/// The contents of a file, read or mapped. `owner` keeps `bytes` valid.
struct FileParts {
    Bytes bytes;
    std::shared_ptr<const void> owner;
};

/// Maps a regular file of more than 64 KB if possible, and reads any other. A mapped file must
/// neither shrink nor change during use.
Result<FileParts> read_parts(const std::string &path);

/// If read_parts() mapped `part`, releases the pages of `part` until they are read again. Does
/// nothing for other memory.
void release_pages(Bytes part);

/// Error: a mapped file has changed since read_parts() mapped it. Call this before a result is
/// written, while all inputs are still mapped.
Result<void> check_mapped_files();
/// Has a mapped file changed since read_parts() mapped it? Does not allocate memory.
bool mapped_files_changed();

/// Installs signal handlers for a program. If the program accesses a part of a mapped file that no
/// longer exists or cannot be read (SIGBUS), it exits with status 1 and a message "PROGRAM: ERROR:
/// FILE: ...". If the program crashes in another way, and a mapped file has changed, it prints such
/// a message, too, but ends by the signal of the crash, because the cause may be a bug of ours.
/// `program` must stay valid until the process ends.
void report_lost_files(const char *program);

// file_change.cc: changes a file, usually without copying the parts that stay.

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

/// How to make a new file from an old one. `before`: the bytes of the old file.
struct FileChange {
    std::vector<std::byte> header; // replaces the start of the kept or rebuilt bytes
    uint64_t kept = 0;             // how many of the old file's first bytes stay
    ByteParts rebuilt;             // if not empty, takes the place of the kept bytes
    std::vector<std::byte> tail;   // is appended

    /// The new file's bytes, one part after the other.
    std::vector<Bytes> parts(Bytes before) const;
    /// The same as one piece.
    std::vector<std::byte> whole(Bytes before) const;
    /// Does the new file differ from the old one?
    bool changes(Bytes before) const;
};

/// Error: the regular file `path` no longer holds `before`, judged by its size and ELF header. A
/// file that does not exist or cannot be opened is not an error.
Result<void> check_as_before(const std::string &path, Bytes before);

/// Changes the file at `path`, which held `before`. Writes only if something changes. If all of a
/// regular file stays except for its header, the addition is appended first and the header written
/// last; the file keeps its inode, links and mode. Otherwise write_file() writes the whole file.
/// `before` may be a mapping of the file. Errors include those of check_as_before().
Result<void> update_file(const std::string &path, Bytes before, const FileChange &change);

// response_file.cc: response files: "@file" on a command line stands for the words in that file.

/// How words are split. By all three rules, white space separates words; quotes ('...', "...") and
/// backslashes protect white space.
enum class WordRules : uint8_t {
    /// A backslash in '...' is an ordinary character, as in a shell. Unlike in a shell, it protects
    /// any character in "...", and a newline after it stays.
    shell,
    /// As gcc up to 14 and clang read response files: a backslash protects in '...', too, and the
    /// end of the text ends a quotation.
    gcc_14,
    /// As gcc from 15 on reads them: a backslash is an ordinary character in '...', and in "..."
    /// except before $ ` " \ and newline; outside of '...', a backslash and a newline vanish
    /// together; the end of the text ends a quotation.
    gcc_15,
};

/// The words of `text`. Errors: a missing closing quote (only WordRules::shell), a NUL byte.
Result<std::vector<std::string>> split_words(std::string_view text, const Where &where,
                                             WordRules rules = WordRules::shell);

struct UnfoldedWords {
    std::vector<std::string> words;
    std::vector<std::string> files; // the response files that were read
};
/// `arguments` with each "@file" replaced by the words of that file; these may name further
/// response files. With the rules of compilers, "@file" stays if the file cannot be opened. Errors:
/// a file that cannot be read or, with the rules of compilers, is not regular; those of
/// split_words(); more than 16 response files inside each other, more than 32 MB in all.
Result<UnfoldedWords> unfold_response_files(const std::vector<std::string> &arguments,
                                            WordRules rules = WordRules::shell);

} // namespace btflink
