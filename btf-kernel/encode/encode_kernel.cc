// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Encodes vmlinux by all processors, reads its BTF once, and then modules over it, each by one
// processor: btf-pahole's way, but for the base that is read for each module there.
//
// Archives. They are read once, from the beginning; members go to processes as files without names,
// of which a few are there at a time. Modules that come before vmlinux (as in RPMs, where names are
// sorted) wait for a second reading: all of them would be gigabytes.
#include "btf-kernel/encode/encode_kernel.h"

#include "btf-kernel/encode/encode_binary.h"
#include "btf-kernel/package/archive.h"
#include "btf-kernel/package/binary.h"
#include "btf-kernel/package/kernel.h"
#include "btf-kernel/package/limits.h"
#include "btf-kernel/package/names.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "common/io/keep_memory.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace btflink::kernel
{

namespace
{

namespace fs = std::filesystem;
using State = WorkResult::State;

/// A file without a name, on the disk of `folder`: vmlinux may be larger than half of the memory.
Result<void> spill(const std::string &folder, Bytes bytes, Fd &file)
{
    file.reset(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.get() < 0) { // not every file system can
        std::string name = folder + "/btf-kernel.XXXXXX";
        file.reset(::mkostemp(name.data(), O_CLOEXEC));
        if (file.get() < 0 || ::unlink(name.c_str()) != 0)
            return fail_errno(Where{folder}, "cannot be written");
    }
    while (!bytes.empty()) {
        const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_errno(Where{folder}, "cannot be written");
        bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return {};
}

struct Times {
    std::pair<time_t, long> written, changed; // the second also where its name, owner or links are
};

/// Empty: there is no such file.
std::optional<Times> times_of(const std::string &path)
{
    struct stat info;
    if (::stat(path.c_str(), &info) != 0)
        return {};
    return Times{{info.st_mtim.tv_sec, info.st_mtim.tv_nsec},
                 {info.st_ctim.tv_sec, info.st_ctim.tv_nsec}};
}

constexpr const char *single_file = "is a single file, not a package with vmlinux and modules "
                                    "(btf-pahole -J encodes a single file)";

bool is_elf(const std::string &path)
{
    char magic[4] = {};
    return std::ifstream(path, std::ios::binary).read(magic, 4) &&
           !std::memcmp(magic, "\177ELF", 4);
}

std::string path_of(int file)
{
    return "/proc/self/fd/" + std::to_string(file);
}

class Encoder
{
public:
    explicit Encoder(const EncodeOptions &options)
        : options_(options), vmlinux_btf_((fs::path(options.output) / "vmlinux.btf").string()),
          binary_(options.features, options.self_contained, vmlinux_btf_),
          pool_(options.jobs, [this](const Piece &piece) { return encode_piece(piece); })
    {
    }

    Result<EncodeReport> run()
    {
        std::error_code ignored;
        const bool folder = fs::is_directory(options_.package, ignored);
        const Result<void> added = folder ? encode_folder() : encode_archive();
        auto results = pool_.finish([&] { show_progress(); }); // what came before an error, too
        TRY(added);
        if (!results)
            return fail(results.error());
        count(*results);
        return std::move(report_);
    }

private:
    // Folders.

    std::string source(const std::string &path) const
    {
        return (fs::path(options_.package) / path).string();
    }

    Result<void> encode_folder()
    {
        auto files = TRY(find_kernel_files(options_.package, options_.release));
        if (files.vmlinux.empty())
            return fail(Where{options_.package}, "has no vmlinux");
        TRY(check_settings());
        const std::string image = source(files.vmlinux);
        if (!is_kept(vmlinux_btf_, image))
            TRY(encode_vmlinux(image, files.vmlinux, image));
        TRY(begin_modules());
        all_ = files.modules.size();
        for (const std::string &module : files.modules)
            TRY(add_module(module, source(module), -1));
        return {};
    }

    // Archives.

    Result<void> encode_archive()
    {
        if (access(options_.package.c_str(), R_OK) != 0)
            return fail_errno(Where{options_.package}, "");
        if (is_elf(options_.package))
            return fail(Where{options_.package}, single_file);
        TRY(check_settings());
        if (is_kept(vmlinux_btf_, options_.package))
            TRY(begin_modules());
        const Result<void> walked = walk();
        if (!has_base_)
            return walked ? fail(Where{options_.package}, "has no vmlinux") : walked;
        return passed_ ? walk() : walked; // which meets the same damage
    }

    Result<void> walk()
    {
        ArchiveVisitor visitor;
        visitor.wants = [&](const std::string &path) { return most_wanted(path); };
        visitor.take = [&](const std::string &path, std::vector<std::byte> bytes) {
            return take(path, std::move(bytes));
        };
        visitor.refuse = [&](Error error) {
            if (seen_.insert(error.where.file).second)
                report_.failed.push_back(std::move(error));
        };
        passed_ = 0;
        Result<void> walked = walk_archive(options_.package, visitor);
        if (is_single_)
            return fail(Where{options_.package}, single_file);
        return walked;
    }

    static bool is_vmlinux(const std::string &path)
    {
        return role_of(path) == Role::image && image_rank(path) < image_rank("vmlinuz");
    }

    /// How many bytes of a member; 0: it is not wanted.
    uint64_t most_wanted(const std::string &path)
    {
        is_single_ |= path.empty(); // a compressed file
        const std::string_view release = release_in(path);
        if (!options_.release.empty() && !release.empty() && release != options_.release)
            return 0;
        if (is_vmlinux(path))
            return has_base_ ? 0 : most_of_image;
        if (role_of(path) != Role::module || seen_.contains(path))
            return 0;
        if (!release.empty())
            releases_.emplace(release);
        if (!has_base_) {
            ++passed_;
            return 0;
        }
        if (!is_kept(result(path), options_.package))
            return most_of_module;
        seen_.insert(path);
        ++report_.kept;
        ++report_.modules;
        return 0;
    }

    Result<void> take(const std::string &path, std::vector<std::byte> bytes)
    {
        if (releases_.size() > 1)
            return fail(Where{options_.package},
                        "has several kernels, of which --release=NAME chooses one");
        const std::string shown = options_.package + "(" + path + ")";
        Fd file;
        TRY(spill(options_.output, bytes, file));
        bytes = {};
        if (is_vmlinux(path)) {
            TRY(encode_vmlinux(path_of(file.get()), path, shown));
            return begin_modules();
        }
        seen_.insert(path);
        return add_module(path, "", file.get());
    }

    // Both.

    /// `path`: in the package.
    Result<void> encode_vmlinux(const std::string &file, const std::string &path,
                                const std::string &shown)
    {
        TRY(binary_.encode_vmlinux(file, shown, options_.jobs));
        const auto parts = TRY(read_parts(file));
        std::string release = release_of(parts.bytes);
        if (release.empty()) // debug information alone
            release = release_in(path);
        return link_by_release(release);
    }

    /// A link by which collections of BTF and loaders of BPF programs find it.
    Result<void> link_by_release(const std::string &release)
    {
        std::error_code error;
        const fs::path target = fs::path(vmlinux_btf_).filename();
        for (const fs::directory_entry &entry : fs::directory_iterator(options_.output, error))
            if (entry.is_symlink(error) && fs::read_symlink(entry.path(), error) == target)
                fs::remove(entry.path(), error); // of another release
        if (release.empty() || release[0] == '.' || release.find('/') != std::string::npos)
            return {};
        const fs::path link = fs::path(options_.output) / (release + ".btf");
        fs::create_symlink(target, link, error);
        if (error)
            return fail(Where{link.string()}, "cannot be made: " + error.message());
        return {};
    }

    std::string result(const std::string &path) const
    {
        return (fs::path(options_.output) / (path + ".btf")).string();
    }

    /// What was made with other settings is not kept.
    Result<void> check_settings()
    {
        std::error_code error;
        fs::create_directories(options_.output, error);
        if (error)
            return fail(Where{options_.output}, "cannot be made: " + error.message());
        const std::string path = (fs::path(options_.output) / "btf-kernel.settings").string();
        const std::string now =
            strf("features %x\nself-contained %d\nfrom %s\n", options_.features.bits(),
                 options_.self_contained, fs::absolute(options_.package).c_str());
        auto before = read_file(path, 1 << 20);
        keep_ = !options_.anew && before &&
                now == std::string(reinterpret_cast<const char *>(before->data()), before->size());
        if (!keep_) // or a run that ends early leaves old results to be taken for new ones
            fs::remove(vmlinux_btf_, error);
        return write_file(path, as_bytes(now));
    }

    bool is_kept(const std::string &made, const std::string &from) const
    {
        const auto mine = times_of(made), source = times_of(from), base = times_of(vmlinux_btf_);
        // What was unpacked, moved or copied there since may have been written long ago.
        return keep_ && mine && source && base && mine->written >= base->written &&
               mine->written >= std::max(source->written, source->changed);
    }

    Result<void> begin_modules()
    {
        TRY(binary_.read_base());
        has_base_ = true;
        return_freed_memory(); // each process has a copy of the tables of all that is kept
        return {};
    }

    Result<void> add_module(const std::string &path, const std::string &from, int file)
    {
        ++report_.modules;
        if (file < 0 && is_kept(result(path), from)) {
            ++report_.kept;
            return {};
        }
        modules_.push_back(path);
        show_progress();
        return pool_.add(path, file);
    }

    /// In a process of its own.
    WorkResult encode_piece(const Piece &piece) const
    {
        if (piece.file < 0)
            return binary_.encode_module(source(piece.name), source(piece.name),
                                         result(piece.name));
        return binary_.encode_module(path_of(piece.file), options_.package + "(" + piece.name + ")",
                                     result(piece.name));
    }

    void show_progress() const
    {
        if (options_.progress)
            options_.progress(pool_.ended() + report_.kept, all_);
    }

    void count(const std::vector<WorkResult> &results)
    {
        for (size_t i = 0; i < results.size(); ++i) {
            const WorkResult &r = results[i];
            if (r.state == State::failed)
                report_.failed.push_back({Where{modules_[i]}, r.text});
            else if (r.text.empty())
                ++report_.written;
            else
                report_.without.push_back(modules_[i]);
        }
    }

    const EncodeOptions &options_;
    const std::string vmlinux_btf_;
    BinaryEncoder binary_;
    bool keep_ = false, has_base_ = false, is_single_ = false;
    size_t all_ = 0;                   // modules; 0: not known
    size_t passed_ = 0;                // modules before vmlinux, in this reading
    std::set<std::string> seen_;       // members that were taken, kept or refused
    std::set<std::string> releases_;   // of modules
    std::vector<std::string> modules_; // by number of their pieces
    EncodeReport report_;
    WorkerPool pool_; // goes first
};

} // namespace

Result<EncodeReport> encode_kernel(const EncodeOptions &options)
{
    return Encoder(options).run();
}

} // namespace btflink::kernel
