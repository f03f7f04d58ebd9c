// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The steps of opening a kernel (kernel.h): find its files by name, read them from folders and
// archives into memory, within limits, and put them together.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "common/io/bytes.h"
#include "common/result.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel
{

// Limits for unpacking untrusted packages, so that a small file cannot use up all memory. Sizes
// are in bytes, after unpacking.
constexpr uint64_t most_of_module = uint64_t{1} << 30;
constexpr uint64_t most_of_image = uint64_t{4} << 30;
constexpr uint64_t most_of_text = 64 << 20;  // a configuration, the md5sums of a .deb
constexpr uint64_t most_of_ids = 1 << 20;    // .BTF_ids of an image without section headers
constexpr uint64_t most_pending = 128 << 20; // files to read together, perhaps still compressed
constexpr size_t most_pending_files = 1024;
constexpr uint64_t most_kept = uint64_t{4} << 30; // BTF of all files
constexpr uint64_t most_members = 4'000'000;      // files of an archive or folder
// Compressions and wrappings within each other. For bare_image(), a wrapping and the compression
// directly inside it count as one.
constexpr unsigned most_nested = 4;
constexpr unsigned most_depth = 64; // nested folders

// archive.cc: archives and compressed files, by libarchive. apk.cc: Alpine packages of version 3.

struct ArchiveVisitor {
    /// The largest size at which a member is wanted; 0: it is not wanted. `path`: by clean_path();
    /// as the archive has it, if it has '..'; "" for a compressed file that is not an archive. Such
    /// a file cannot be skipped: if it is larger than the returned size, walk_archive() fails.
    std::function<uint64_t(const std::string &path)> wants;
    /// Takes a wanted regular member. The path "" stands for a compressed file that is not an
    /// archive.
    std::function<Result<void>(const std::string &path, std::vector<std::byte> bytes)> take;
    /// Takes the error for a wanted member that is a hard link or a device, has '..' in its path,
    /// or is too large.
    std::function<void(Error)> refuse;
    /// Takes the paths in the md5sums of a Debian package, before the first file is unpacked. An
    /// error ends the walk. A visitor need not have this function.
    std::function<Result<void>(const std::vector<std::string> &paths)> list = {};
};

struct WantedMember {
    std::string path; // by clean_path()
    uint64_t most;    // bytes
    Where where;
};

/// Decides whether a member of the archive at `archive` is wanted. `name`: its path, as the archive
/// has it. `size`: bytes, by the archive's header. `flaw`: why it must be refused, or null. Returns
/// nothing if the member is not wanted, or if visitor.refuse() got the reason.
std::optional<WantedMember> wanted_member(const ArchiveVisitor &visitor, const std::string &archive,
                                          std::string_view name, uint64_t size, const char *flaw);

/// Goes through the members of a Debian or OpenWrt package (its data), an RPM, an Alpine package
/// (version 2 or 3), or a cpio or tar archive, compressed or not. Any other compressed file is
/// passed on as one member with the path "". Errors: the file cannot be read, or is none of these;
/// it is damaged or exceeds a limit (members before this place may have been passed on); a function
/// of `visitor` failed.
Result<void> walk_archive(const std::string &path, const ArchiveVisitor &visitor);

/// Is the file, by its magic number, an Alpine package of version 3, compressed or not? libarchive
/// does not read these.
bool is_apk3(Bytes file);
/// As walk_archive(), for such a package.
Result<void> walk_apk3(Bytes file, const std::string &path, const ArchiveVisitor &visitor);

/// Unpacks compressed bytes: gzip, xz, lzma, bzip2, zstd, lz4. Errors: they unpack to more than
/// `most` bytes, are damaged, are not compressed in one of these ways, or are compressed more than
/// most_nested times. `unpacked`: gets the number of bytes that were unpacked, also before an
/// error; stays as it is if unpacking does not begin.
Result<std::vector<std::byte>> unpack(Bytes bytes, uint64_t most, const Where &where,
                                      uint64_t *unpacked = nullptr);

/// Are the bytes compressed, by their magic number?
bool is_compressed(Bytes bytes);

// names.cc: the role of a file in a kernel package, by its name.

enum class Role : uint8_t {
    none,
    image,
    module,
    config,  // the kernel's configuration
    release, // Kbuild's file kernel.release
};

/// The role of a file, by its name and some folders of its path.
Role role_of(std::string_view path);

/// The role of raw BTF that btf-kernel encode wrote, by its name: "vmlinux.btf", or
/// "MODULE.ko.btf", where other suffixes of modules may replace ".ko", as in "MODULE.ko.xz.btf".
Role role_of_encoded(std::string_view path);

/// Does the name have the suffix of a distribution's package, such as ".deb"?
bool is_package(std::string_view path);

/// "nf_tables" of "kernel/net/netfilter/nf-tables.ko.xz".
std::string module_name(std::string_view path);

/// The release in a path such as "lib/modules/RELEASE/..." or "boot/vmlinuz-RELEASE"; empty: none.
std::string_view release_in(std::string_view path);

/// The path of a module below lib/modules/RELEASE/, without suffix; in other folders the whole
/// path, without suffix. A module and its file of debug information have the same place if both
/// are below lib/modules/RELEASE/: "net/x" for "lib/modules/RELEASE/net/x.ko.xz" and
/// "usr/lib/debug/lib/modules/RELEASE/net/x.ko".
std::string_view place_of_module(std::string_view path);

/// Is the file from a package of debug information?
bool is_debug_file(std::string_view path);

/// Does the name stand for vmlinux as an uncompressed ELF file?
bool is_linked_image(std::string_view path);

/// The image with the lowest rank is preferred: the one with more information (vmlinux before
/// vmlinuz, a file in lib/debug before a vmlinux that is shipped without symbols, raw BTF last),
/// then the one in fewer folders.
unsigned image_rank(std::string_view path);

/// A member's path without its empty and "." parts. Error: it has a part "..".
Result<std::string> clean_path(std::string_view path);

/// Does the file have the bytes `magic` at this offset?
inline bool has(Bytes file, size_t at, std::string_view magic)
{
    return at <= file.size() && as_text(file.subspan(at)).starts_with(magic);
}

// image.cc, wrapping.cc: the parts of a vmlinux, module or boot image that concern BTF. A boot
// image may be compressed, and wrapped in a format that firmware and boot loaders expect.

/// Does the file begin like ELF, raw BTF or a known wrapping? False for compressed files.
bool is_binary(Bytes file);

/// The content of a wrapping: a kernel, compressed or not, or another wrapping.
struct Payload {
    Bytes bytes;
    std::string release = {}; // as the wrapping states it; empty: not known
    /// The payload begins with code, and the kernel follows. A compressed kernel ends with its
    /// unpacked size in four bytes, which gzip writes, or else Kbuild appends. Zeros may follow.
    bool after_code = false;
};

struct Wrapping {
    const char *name;
    size_t header; // bytes that open() needs at least
    bool (*begins)(Bytes file);
    /// Null: the file is the kernel itself, as it is in memory. Errors: the file is damaged, of an
    /// unknown version, or has no kernel.
    Result<Payload> (*open)(Bytes file, const Where &where);
};

/// The wrapping of a file; null: not known.
const Wrapping *find_wrapping(Bytes file);

/// Reads a module: an ELF file, compressed or not, or raw BTF.
Result<Binary> read_module(Bytes file, const Where &where);

/// The release in the banner of a vmlinux, an ELF file; empty: there is no banner, or the file
/// cannot be read.
std::string release_of(Bytes file);

struct ImageFacts {
    Binary binary;
    std::string release, config, banner; // empty: not in the image
};
/// Reads any image of a kernel. `owner` keeps the bytes of `file` alive.
Result<ImageFacts> read_image(Bytes file, std::shared_ptr<const void> owner, const Where &where);

// kernel.cc, collect.cc: take the files of a package in any order, and make a kernel of them.

/// A file of the package.
struct Content {
    // Relative to its package or folder, as clean_path() gives it; with lib/modules/ or boot/ in
    // front if the folder is itself a lib/modules or boot. Of a file that the user named: only the
    // file name.
    std::string path;
    std::string place; // with its package or folder: "PACKAGE(PATH)", "FOLDER/PATH"
    Bytes bytes;
    std::shared_ptr<const void> owner; // keeps `bytes` alive
};

/// Why the kernel of this release cannot be opened or encoded: the package has only the releases
/// `seen`.
std::string no_such_kernel(const std::string &release, const std::set<std::string> &seen);

class Collector
{
public:
    explicit Collector(const OpenOptions &options) : options_(options) {}

    /// The role of a file; none: it is not wanted, because of its name or its release.
    Role wants(const std::string &path);
    /// Reads a configuration or kernel.release at once. Keeps any other file until there are enough
    /// to read them on several threads. Role::none: the user named the file, and its name and
    /// contents decide whether it is a module or an image. Error: too much BTF is kept.
    Result<void> take(Role role, Content content);
    void refuse(Error error) { left_out_.push_back(std::move(error)); }

    Result<Kernel> finish(std::string package);

private:
    struct PendingFile {
        Role role;
        bool encoded; // by its name, btf-kernel encode wrote it; false if the user named it
        Content content;
    };
    struct Image {
        std::string path;
        Result<ImageFacts> facts;
    };
    /// Images and modules of one origin: the kernel itself, or btf-kernel encode. Images that
    /// encode wrote are used only if the kernel has none. The same holds for modules.
    struct Files {
        std::vector<Image> images;
        std::vector<Binary> modules;
    };
    Result<void> read_pending();
    void keep(const PendingFile &file, Result<ImageFacts> facts);
    Result<std::string> choose_release() const;
    Result<void> choose_image(Kernel &kernel, std::optional<Error> &unreadable);

    const OpenOptions &options_;
    std::vector<PendingFile> pending_;
    uint64_t pending_bytes_ = 0;
    Files own_, encoded_;
    std::vector<std::pair<std::string, std::string>> configs_; // path, text
    std::string release_;                                      // from a build's kernel.release
    std::set<std::string> releases_seen_; // in paths; complete only if options_.release is set
    std::vector<Error> left_out_;
    size_t modules_taken_ = 0;
    std::atomic<uint64_t> kept_ = 0; // bytes of BTF in memory
};

/// Why the kernel of this release cannot be encoded: each vmlinux is of another release.
std::string no_image_of(const std::string &release);

/// Goes through a file or folder, and passes wanted files to the collector (collect.cc).
Result<void> collect(const std::string &path, Collector &collector);

} // namespace btflink::kernel
