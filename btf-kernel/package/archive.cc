// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads members of archives one after the other, straight from the file. Also unpacks compressed
// data in memory.
//
// Problem. A .deb is an archive of archives: an ar archive with, for example, control.tar.xz and
// data.tar.xz. control.tar usually has the file md5sums, which lists the files in data.tar.
//
// Method. libarchive reads the inner archive through a callback, which returns the next block of
// the outer archive's current member. Walk holds only one member in memory, and passes it on before
// it reads the next.
#include "btf-kernel/package/steps.h"

#include "common/io/file_io.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <memory>

namespace btflink::kernel
{

namespace
{

struct CloseArchive {
    void operator()(archive *a) const { archive_read_free(a); }
};
using Reader = std::unique_ptr<archive, CloseArchive>;

constexpr size_t block = 128 * 1024;

Reader new_reader()
{
    Reader reader(archive_read_new());
    CHECK(reader != nullptr);
    archive *a = reader.get();
    // No other compressions: for some of them libarchive may start a program.
    using Support = int (*)(archive *);
    for (Support filter : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                           archive_read_support_filter_xz, archive_read_support_filter_lzma,
                           archive_read_support_filter_zstd, archive_read_support_filter_lz4})
        filter(a);
    return reader;
}

/// Was a header or a block read? False at the end, and if the header or block is damaged. For a tar
/// header with a wrong checksum, libarchive returns ARCHIVE_RETRY and an empty entry.
bool is_read(int status)
{
    return status == ARCHIVE_OK || status == ARCHIVE_WARN;
}

Failure fail_archive(archive *a, const Where &where)
{
    const char *why = archive_error_string(a);
    return fail(where, std::string("cannot be unpacked: ") + (why ? why : "unknown reason"));
}

/// How many compressions are around the archive. The header of an RPM counts as one, too.
int compressions(archive *a)
{
    return archive_filter_count(a) - 1; // one filter stands for "no compression"
}

/// Limits nested compression, because libarchive unpacks all of it by itself.
Result<void> check_nesting(archive *a, const Where &where)
{
    if (compressions(a) <= int{most_nested})
        return {};
    return fail(where, strf("has more than %u compressed files inside each other", most_nested));
}

/// The contents of the current member. `expected`: their probable size. Errors: the contents are
/// damaged, or have more than `most` bytes.
Result<std::vector<std::byte>> read_entry(archive *a, uint64_t most, uint64_t expected,
                                          const Where &where)
{
    // A header may lie about the size. Reserved memory that is not touched costs nothing.
    constexpr uint64_t most_believed = 256 << 20;
    std::vector<std::byte> bytes;
    bytes.reserve(std::min({expected, most, most_believed}));
    for (;;) {
        const void *data = nullptr;
        size_t size = 0;
        la_int64_t offset = 0; // files may have holes
        const int status = archive_read_data_block(a, &data, &size, &offset);
        if (status == ARCHIVE_EOF) // `offset`: where the file ends, perhaps after a last hole; or 0
            offset = std::max(offset, static_cast<la_int64_t>(bytes.size()));
        else if (!is_read(status))
            return fail_archive(a, where);
        const auto begin = static_cast<uint64_t>(offset);
        if (offset < 0 || begin < bytes.size())
            return fail(where, "has parts in the wrong order");
        if (begin > most || size > most - begin)
            return fail(where, "unpacks to more than " + std::to_string(most) + " bytes");
        bytes.resize(begin); // zeros for a hole, if there is one
        if (status == ARCHIVE_EOF)
            return bytes;
        const auto *first = static_cast<const std::byte *>(data);
        bytes.insert(bytes.end(), first, first + size);
    }
}

/// The source of an archive that is a member of another archive.
struct OuterArchive {
    archive *reader;
    std::vector<std::byte> buffer;

    static la_ssize_t read(archive *inner, void *data, const void **out)
    {
        auto *outer = static_cast<OuterArchive *>(data);
        const la_ssize_t got =
            archive_read_data(outer->reader, outer->buffer.data(), outer->buffer.size());
        if (got < 0)
            archive_set_error(inner, archive_errno(outer->reader), "%s",
                              archive_error_string(outer->reader));
        *out = outer->buffer.data();
        return got;
    }
};

/// The paths in md5sums, without those that have '..'. A line: 32 digits, two blanks, a path.
std::vector<std::string> listed_paths(std::string_view text)
{
    constexpr size_t before_path = 34;
    std::vector<std::string> paths;
    while (!text.empty()) {
        const std::string_view line = take_part(text, '\n');
        if (line.size() > before_path)
            if (auto path = clean_path(line.substr(before_path)))
                paths.push_back(std::move(*path));
    }
    return paths;
}

/// The path of a member by clean_path(); "" if the member has no path, or one with '..'.
std::string path_in_package(archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    return clean_path(name ? name : "").value_or("");
}

class Walk
{
public:
    Walk(std::string path, const ArchiveVisitor &visitor)
        : path_(std::move(path)), where_{path_}, visitor_(visitor)
    {
    }

    Result<void> run()
    {
        Reader reader = new_reader();
        archive *a = reader.get();
        archive_read_support_filter_rpm(a);
        archive_read_support_format_ar(a);
        archive_read_support_format_tar(a);
        archive_read_support_format_cpio(a);
        archive_read_support_format_raw(a);
        if (archive_read_open_filename(a, path_.c_str(), block) != ARCHIVE_OK)
            return fail_archive(a, where_);
        return members(a, true);
    }

private:
    Result<void> members(archive *a, bool outermost)
    {
        for (;;) {
            archive_entry *entry = nullptr;
            const int status = archive_read_next_header(a, &entry);
            if (status == ARCHIVE_EOF)
                return {};
            if (!is_read(status))
                return fail_archive(a, where_);
            TRY(check_nesting(a, where_));
            if (++count_ > most_members)
                return fail(where_, "has more than 4,000,000 members");
            const int format = archive_format(a) & ARCHIVE_FORMAT_BASE_MASK;
            if (outermost &&
                (format == ARCHIVE_FORMAT_AR || path_in_package(entry) == "debian-binary"))
                is_debian_ = true;
            if (outermost && format == ARCHIVE_FORMAT_RAW)
                TRY(raw(a));
            else if (outermost && is_debian_)
                TRY(debian(a, entry));
            else
                TRY(member(a, entry));
        }
    }

    Result<void> raw(archive *a)
    {
        if (compressions(a) < 1)
            return fail(where_, "is neither a kernel nor a package of one");
        const uint64_t most = visitor_.wants("");
        auto bytes = TRY(read_entry(a, most, 0, where_));
        return visitor_.take("", std::move(bytes));
    }

    /// Goes through data.tar.* of a Debian package, and through control.tar.* if the visitor takes
    /// a list. Skips other members, such as debian-binary.
    Result<void> debian(archive *a, archive_entry *entry)
    {
        const std::string name = path_in_package(entry);
        if (name.starts_with("data.tar"))
            return inside(a, [&](archive *inner) { return members(inner, false); });
        if (name.starts_with("control.tar") && visitor_.list)
            return list(a);
        return {};
    }

    /// Calls `read` with a reader of the archive that is the current member of `a`.
    Result<void> inside(archive *a, const std::function<Result<void>(archive *)> &read)
    {
        OuterArchive outer{a, std::vector<std::byte>(block)};
        Reader inner = new_reader();
        archive_read_support_format_tar(inner.get());
        if (archive_read_open(inner.get(), &outer, nullptr, OuterArchive::read, nullptr) !=
            ARCHIVE_OK)
            return fail_archive(inner.get(), where_);
        return read(inner.get());
    }

    /// Passes on the paths in the md5sums of the control.tar that is the current member of `a`.
    /// md5sums is not required, so damage that is found here is not reported.
    Result<void> list(archive *a)
    {
        std::vector<std::byte> text;
        const Result<void> found = inside(a, [&](archive *inner) -> Result<void> {
            archive_entry *entry = nullptr;
            while (is_read(archive_read_next_header(inner, &entry)))
                if (path_in_package(entry) == "md5sums") {
                    text = TRY(read_entry(inner, most_of_text, 0, where_));
                    return {};
                }
            return fail({}, "has no md5sums");
        });
        return found ? visitor_.list(listed_paths(as_text(text))) : Result<void>();
    }

    Result<void> member(archive *a, archive_entry *entry)
    {
        const char *name = archive_entry_pathname(entry);
        if (!name)
            name = archive_entry_pathname_utf8(entry);
        if (!name || archive_entry_filetype(entry) == AE_IFDIR)
            return {}; // not a file of a kernel
        const auto size = static_cast<uint64_t>(
            std::max<int64_t>(archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0, 0));
        const bool link = archive_entry_filetype(entry) == AE_IFLNK;
        const char *flaw = nullptr;
        if (archive_entry_hardlink(entry))
            flaw = "is a hard link";
        else if (archive_entry_filetype(entry) != AE_IFREG && !link)
            flaw = "is not a regular file";
        auto wanted = wanted_member(visitor_, path_, name, size, flaw);
        // A symbolic link is skipped, and is not an error unless its path has '..': links to an
        // image are usual, for example in debug packages.
        if (!wanted || link)
            return {};
        auto bytes = TRY(read_entry(a, wanted->most, size, wanted->where));
        return visitor_.take(wanted->path, std::move(bytes));
    }

    std::string path_;
    Where where_;
    const ArchiveVisitor &visitor_;
    uint64_t count_ = 0;
    /// The archive is a package of Debian, or one of OpenWrt (.ipk), which is a compressed tar
    /// archive of the same members.
    bool is_debian_ = false;
};

} // namespace

std::optional<WantedMember> wanted_member(const ArchiveVisitor &visitor, const std::string &archive,
                                          std::string_view name, uint64_t size, const char *flaw)
{
    auto path = clean_path(name);
    const std::string shown = path ? *path : std::string(name);
    // A member without a path, such as "./", is not wanted: wants("") asks about a compressed file.
    const uint64_t most = shown.empty() ? 0 : visitor.wants(shown);
    if (!most)
        return std::nullopt;
    Where where{archive + "(" + shown + ")"};
    if (!path)
        visitor.refuse({where, path.error().what});
    else if (flaw)
        visitor.refuse({where, flaw});
    else if (size > most)
        visitor.refuse({where, "has more than " + std::to_string(most) + " bytes"});
    else
        return WantedMember{shown, most, std::move(where)};
    return std::nullopt;
}

Result<void> walk_archive(const std::string &path, const ArchiveVisitor &visitor)
{
    {
        auto parts = TRY(read_parts(path));
        if (is_apk3(parts.bytes))
            return walk_apk3(parts.bytes, path, visitor);
    }
    return Walk(path, visitor).run();
}

bool is_compressed(Bytes bytes)
{
    constexpr std::string_view magics[] = {
        {"\x1f\x8b", 2},         // gzip
        {"\xfd\x37zXZ", 5},      // xz
        {"\x28\xb5\x2f\xfd", 4}, // zstd
        {"\x02\x21\x4c\x18", 4}, // lz4 as the kernel uses it
        {"\x04\x22\x4d\x18", 4}, // lz4
        {"BZh", 3},              // bzip2
        {"\x5d\x00\x00", 3},     // lzma
        {"\x6d\x00\x00", 3},     // lzma with lc=1 and lp=2, as OpenWrt uses it
    };
    return std::ranges::any_of(
        magics, [&](std::string_view magic) { return as_text(bytes).starts_with(magic); });
}

Result<std::vector<std::byte>> unpack(Bytes bytes, uint64_t most, const Where &where,
                                      uint64_t *unpacked)
{
    Reader reader = new_reader();
    archive *a = reader.get();
    archive_read_support_format_raw(a);
    archive_entry *entry = nullptr;
    if (archive_read_open_memory(a, bytes.data(), bytes.size()) != ARCHIVE_OK ||
        !is_read(archive_read_next_header(a, &entry)))
        return fail_archive(a, where);
    if (compressions(a) < 1)
        return fail(where, "is not compressed, or has an unknown compression");
    TRY(check_nesting(a, where));
    constexpr uint64_t usual_ratio = 6;
    auto out = read_entry(a, most, bytes.size() * usual_ratio, where);
    if (unpacked)
        *unpacked = static_cast<uint64_t>(std::max<la_int64_t>(archive_filter_bytes(a, 0), 0));
    return out;
}

} // namespace btflink::kernel
