// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel encode: makes BTF from the DWARF of a kernel and its modules. Writes
// OUTPUT/vmlinux.btf, OUTPUT/PATH.btf for the module at PATH in the package, and, if the
// release of vmlinux is known, the link OUTPUT/RELEASE.btf to vmlinux.btf. Files are complete or
// absent.
//
// Without --force, a file of an earlier run with the same settings is kept, unless vmlinux.btf or
// the source (the file with DWARF, or the archive) is newer. The settings file is empty while
// vmlinux.btf is replaced; if the run fails then, the next run keeps nothing. If vmlinux.btf is
// replaced, the BTF of modules that earlier runs wrote is removed after that, not before, so an
// unsuitable package does no damage. For the same reason, without --release, all paths in an
// archive are read before it may replace the vmlinux.btf of an earlier run: several kernels are an
// error.
//
// Method. vmlinux is encoded by all threads. Then its BTF is read once (not with --self-contained),
// and several modules are encoded at a time. vmlinux and each module get a process of their own.
//
// Archives. Members are unpacked to unnamed files, a few at a time, because all members together
// may be gigabytes. Modules can be encoded only after vmlinux. Those that come before it (RPMs are
// sorted by name) are skipped, and encoded in a second reading of the archive. If an archive is
// damaged after vmlinux, the modules before the damage are encoded.
#include "btf-kernel/commands.h"

#include "btf-kernel/encode/encode_files.h"
#include "btf-kernel/encode/worker_pool.h"
#include "btf-kernel/package/kernel.h"
#include "btf-kernel/package/steps.h"
#include "btf-kernel/progress.h"
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/elf/elf_image.h"
#include "common/io/file_io.h"
#include "common/io/json_text.h"
#include "common/io/parallel.h"
#include "emit/dwarf/languages.h"
#include "kbuild-integration/btf-pahole/steps.h"
#include "merge/base_index/base_index.h"
#include "merge/input/final_btf.h"
#include "merge/merge.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace btflink::kernel
{

namespace
{

namespace fs = std::filesystem;

// The features that scripts/Makefile.btf of Linux 6.12 asks for with pahole 1.26 or later.
constexpr std::string_view kernel_features = "encode_force,var,float,enum64,decl_tag,type_tag,"
                                             "optimized_func,consistent_func,decl_tag_kfuncs";

struct EncodeCommandLine {
    bool help = false, quiet = false, json = false;
    std::string package; // folder or archive with vmlinux and modules that have DWARF
    std::string output;  // folder; created if it does not exist
    std::string release; // which kernel to encode, if there are several
    std::optional<FeatureSet> features;
    bool self_contained = false; // BTF of modules does not extend that of vmlinux
    bool force = false;          // do not keep files of an earlier run
    unsigned threads = processors();
};

constexpr Option<EncodeCommandLine> encode_options[] = {
    {help_option, sets<&EncodeCommandLine::help>},
    {{'o', "output", "FOLDER", "Write files there"}, sets<&EncodeCommandLine::output>},
    {{0, "self-contained", "",
      "Write BTF of modules with all of its types (default: it extends the BTF of vmlinux)"},
     sets<&EncodeCommandLine::self_contained>},
    {{0, "features", "LIST",
      "Features to encode in addition to those of kernel builds, by pahole's names", repeats},
     sets<&EncodeCommandLine::features>},
    {{0, "force", "", "Do not keep files of an earlier run"}, sets<&EncodeCommandLine::force>},
    {{0, "anew", "", ""}, sets<&EncodeCommandLine::force>}, // the former name of --force
    {{0, "release", "NAME", "Choose this kernel if there are several"},
     sets<&EncodeCommandLine::release>},
    {{0, "json", "", "Print the counts and what failed as JSON"}, sets<&EncodeCommandLine::json>},
    {{'j', "threads", "N",
      "Threads for vmlinux, then modules at a time, 1 to 1024 (default: processors)"},
     take_threads<&EncodeCommandLine::threads>},
    {{'q', "quiet", "", "No counts, no progress"}, sets<&EncodeCommandLine::quiet>},
};

struct EncodeReport {
    size_t modules = 0, written = 0, kept = 0; // kept: from an earlier run
    std::vector<std::string> without;          // modules whose DWARF has nothing to encode
    std::vector<Error> failed;                 // modules, and members that were refused
};

constexpr const char no_dwarf[] = "has no DWARF to make BTF from";
constexpr const char no_vmlinux[] = "has no vmlinux; packages with debug information have one "
                                    "(-dbg, -dbgsym, debuginfo)";
constexpr const char boot_image[] = "is a boot image, which has no DWARF; packages with debug "
                                    "information have it (-dbg, -dbgsym, debuginfo)";
constexpr const char nothing[] = "nothing"; // WorkResult::text if the DWARF has nothing to encode

/// Puts `shown` in place of an unnamed file's path in /proc, or of a missing path.
Error about(Error error, const std::string &shown)
{
    if (error.where.file.empty() || error.where.file.starts_with("/proc/self/fd/"))
        error.where.file = shown;
    return error;
}

/// The text of an error, to be printed after the module's path; without the file name `shown`.
std::string beside_name(Error error, const std::string &shown)
{
    error = about(std::move(error), shown);
    if (error.where.file == shown)
        error.where.file.clear();
    return error.str();
}

using Time = std::pair<time_t, long>;

Time time_of(const timespec &time)
{
    return {time.tv_sec, time.tv_nsec};
}

constexpr const char *single_file = "is a single file, not a package with vmlinux and modules "
                                    "(btf-pahole -J encodes a single file)";

class Encoder
{
public:
    explicit Encoder(const EncodeCommandLine &line)
        : line_(line), vmlinux_btf_((fs::path(line.output) / "vmlinux.btf").string()),
          settings_path_((fs::path(line.output) / settings_name).string()), pool_(line.threads),
          progress_(line.quiet)
    {
        settings_.features = *line.features;
        settings_.filter.excluded_languages = *emit::parse_languages("rust"); // as kernels ask
    }

    Result<EncodeReport> run()
    {
        std::error_code ignored;
        const bool folder = fs::is_directory(line_.package, ignored);
        const Result<void> added = folder ? encode_folder() : encode_archive();
        // Modules that came before an error are finished, too.
        count(pool_.finish([&] { show_progress(); }));
        if (added)
            return std::move(report_);
        for (const Error &error : report_.failed) // perhaps the cause, such as a refused vmlinux
            print_error(error);
        return fail(added.error());
    }

private:
    // Folders.

    std::string source(const std::string &path) const
    {
        return (fs::path(line_.package) / path).string();
    }

    Result<void> encode_folder()
    {
        auto files = TRY(find_kernel_files(line_.package, line_.release));
        if (files.vmlinux.empty())
            return fail(Where{line_.package}, no_vmlinux);
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
        TRY(refuse_single_file());
        TRY(check_settings());
        if (is_kept(vmlinux_btf_, line_.package))
            TRY(begin_modules());
        else if (had_earlier_run_ && line_.release.empty())
            TRY(check_names());
        const Result<void> walked = walk();
        if (walked)
            TRY(check_releases());
        if (!has_base_ && walked && has_other_image_)
            return fail(Where{line_.package}, no_image_of(line_.release));
        if (!has_base_)
            return walked ? fail(Where{line_.package}, no_vmlinux) : walked;
        return too_early_ ? walk() : walked; // a second reading meets the same damage
    }

    Result<void> refuse_single_file() const
    {
        const auto parts = TRY(read_parts(line_.package));
        if (is_elf(parts.bytes))
            return fail(Where{line_.package}, single_file);
        if (find_wrapping(parts.bytes))
            return fail(Where{line_.package}, boot_image);
        return {};
    }

    /// Reads the archive for the releases in its paths, so that an archive with several kernels
    /// does not replace the files of an earlier run. Errors: those of check_releases().
    Result<void> check_names()
    {
        ArchiveVisitor visitor;
        visitor.wants = [&](const std::string &path) {
            note_release(path);
            return 0;
        };
        visitor.take = [](const std::string &, const std::vector<std::byte> &) {
            return Result<void>();
        };
        visitor.refuse = [](const Error &) {};
        (void)walk_archive(line_.package, visitor); // the next reading meets the same damage
        return check_releases();
    }

    /// Errors: several releases are known, and --release is not given; or some are known, and
    /// --release names none of them.
    Result<void> check_releases() const
    {
        const std::string &wanted = line_.release;
        if (wanted.empty() && releases_.size() > 1)
            return fail(Where{line_.package},
                        "has several kernels; choose one with --release=NAME: " +
                            joined(releases_, ", "));
        if (!wanted.empty() && !releases_.empty() && !releases_.contains(wanted))
            return fail(Where{line_.package}, no_such_kernel(wanted, releases_));
        return {};
    }

    Result<void> walk()
    {
        ArchiveVisitor visitor;
        visitor.wants = [&](const std::string &path) { return size_limit(path); };
        visitor.take = [&](const std::string &path, std::vector<std::byte> bytes) {
            return take(path, std::move(bytes));
        };
        visitor.refuse = [&](Error error) {
            if (seen_.insert(error.where.file).second)
                report_.failed.push_back(std::move(error));
        };
        visitor.list = [&](const std::vector<std::string> &paths) -> Result<void> {
            if (std::ranges::none_of(paths, is_linked_image))
                return fail(Where{line_.package}, no_vmlinux);
            return {};
        };
        too_early_ = 0;
        Result<void> walked = walk_archive(line_.package, visitor);
        if (is_single_)
            return fail(Where{line_.package}, single_file);
        return walked;
    }

    /// Returns false if the member is neither a vmlinux nor a module.
    bool note_release(const std::string &path)
    {
        if (!is_linked_image(path) && role_of(path) != Role::module)
            return false;
        if (const std::string_view release = release_in(path); !release.empty())
            releases_.emplace(release);
        return true;
    }

    /// For ArchiveVisitor::wants: the largest size at which the member is unpacked; 0: it is
    /// skipped. Counts modules that are kept, and those that come before vmlinux.
    uint64_t size_limit(const std::string &path)
    {
        is_single_ |= path.empty(); // a compressed file, not an archive
        if (!note_release(path))
            return 0;
        const bool is_image = is_linked_image(path);
        const std::string_view release = release_in(path);
        if (!line_.release.empty() && !release.empty() && release != line_.release) {
            has_other_image_ |= is_image;
            return 0;
        }
        if (is_image)
            return has_base_ ? 0 : most_of_image;
        if (seen_.contains(path))
            return 0;
        if (!has_base_) {
            ++too_early_;
            return 0;
        }
        if (!is_kept(output_of(path), line_.package))
            return most_of_module;
        seen_.insert(path);
        ++report_.kept;
        ++report_.modules;
        return 0;
    }

    /// May this vmlinux be encoded? size_limit() has checked the release in the path. If the path
    /// states none, the banner counts: its release is noted, and must be that of --release, if
    /// given. `bytes`: the contents of the file.
    bool is_chosen(const std::string &path, Bytes bytes)
    {
        const std::string own = release_in(path).empty() ? release_of(bytes) : "";
        if (own.empty())
            return true;
        releases_.insert(own);
        const bool chosen = line_.release.empty() || own == line_.release;
        has_other_image_ |= !chosen;
        return chosen;
    }

    Result<void> take(const std::string &path, std::vector<std::byte> bytes)
    {
        if (is_linked_image(path) && !is_chosen(path, bytes))
            return {};
        if (line_.release.empty())
            TRY(check_releases());
        const std::string shown = line_.package + "(" + path + ")";
        Fd file;
        TRY(spill(line_.output, bytes, file));
        bytes = {};
        if (is_linked_image(path)) {
            TRY(encode_vmlinux(path_of(file.get()), path, shown));
            return begin_modules();
        }
        TRY(add_module(path, "", file.get()));
        seen_.insert(path);
        return {};
    }

    // Encoding, as by btf-pahole, but the base is read only once. `file`: the file to read.
    // `shown`: the name of this file in errors.

    Result<void> merge(const std::string &input, const std::string &image,
                       const std::string &output, unsigned threads) const
    {
        merge::Options merge;
        merge.inputs = {input};
        merge.image = image;
        merge.features = *line_.features;
        merge.threads = threads;
        merge.output = output;
        if (image.empty() && !line_.self_contained) {
            merge.base = vmlinux_btf_;
            merge.read_base = base_;
        }
        merge::Report ignored;
        return merge::merge(merge, ignored);
    }

    Result<void> write_vmlinux(const std::string &file) const
    {
        kbuild::PaholeOptions settings = settings_;
        settings.jobs = line_.threads;
        kbuild::DwarfReport report;
        auto made = TRY(kbuild::encode_uncovered(file, {}, settings, report));
        if (!made)
            return fail({}, report.no_dwarf ? no_dwarf : "its DWARF has nothing for BTF");
        return merge(made->path(), file, vmlinux_btf_, line_.threads);
    }

    /// `file` may be compressed. Returns false if the DWARF has nothing to encode.
    Result<bool> write_module(const std::string &file, const std::string &shown,
                              const std::string &output) const
    {
        std::error_code error;
        const fs::path folder = fs::path(output).parent_path();
        fs::create_directories(folder, error);
        if (error)
            return fail(Where{folder.string()}, "cannot be made: " + error.message());
        fs::remove(output, error); // from an earlier run, perhaps over another vmlinux
        auto plain = TRY(unpacked(file, Where{shown}));
        kbuild::DwarfReport report;
        auto made =
            TRY(kbuild::encode_object(plain ? plain->path() : file, settings_, false, report));
        if (report.no_dwarf)
            return fail({}, no_dwarf);
        if (!made)
            return false;
        TRY(merge(made->path(), "", output, 1));
        return true;
    }

    // Folders and archives.

    /// `path`: of vmlinux in the package.
    Result<void> encode_vmlinux(const std::string &file, const std::string &path,
                                const std::string &shown)
    {
        // If this run ends before the settings are written (below), the next run keeps nothing.
        TRY(write_file(settings_path_, Bytes()));
        // A child, so that this process stays small: each later fork() copies its page tables.
        WorkerPool alone(1);
        TRY(alone.add([&]() -> WorkResult {
            auto done = write_vmlinux(file);
            return {!done, done ? "" : about(done.error(), shown).str()};
        }));
        // The text names the file, unless the process was lost.
        if (const WorkResult result = alone.finish([] {}).front(); result.failed)
            return fail(result.lost ? Where{shown} : Where{}, result.text);
        TRY(remove_stale_modules());
        TRY(write_file(settings_path_, as_bytes(settings_text_)));
        const auto parts = TRY(read_parts(file));
        std::string release = release_of(parts.bytes);
        if (release.empty()) // a file with only debug information
            release = release_in(path);
        return link_by_release(release);
    }

    /// Removes the BTF of modules that earlier runs wrote: it may extend an older vmlinux.btf.
    Result<void> remove_stale_modules() const
    {
        if (!had_earlier_run_)
            return {};
        const std::vector<fs::path> files = TRY(earlier_modules_in(line_.output));
        std::error_code error;
        for (const fs::path &file : files)
            if (!fs::remove(file, error) && error)
                return fail(Where{file.string()}, "cannot be removed: " + error.message());
        return {};
    }

    /// Makes the link OUTPUT/RELEASE.btf, by which loaders of BPF programs find the BTF. Removes
    /// links of earlier runs. Makes none if `release` is empty or not a file name.
    Result<void> link_by_release(const std::string &release)
    {
        std::error_code error;
        const fs::path target = fs::path(vmlinux_btf_).filename();
        std::vector<fs::path> earlier; // perhaps for another release
        for (fs::directory_iterator it(line_.output, error);
             !error && it != fs::directory_iterator(); it.increment(error)) {
            std::error_code unknown;
            if (it->is_symlink(unknown) && fs::read_symlink(it->path(), unknown) == target)
                earlier.push_back(it->path());
        }
        for (const fs::path &link : earlier)
            fs::remove(link, error);
        if (release.empty() || release[0] == '.' || release.find('/') != std::string::npos)
            return {};
        const fs::path link = fs::path(line_.output) / (release + ".btf");
        fs::create_symlink(target, link, error);
        if (error)
            return fail(Where{link.string()}, "cannot be made: " + error.message());
        return {};
    }

    std::string output_of(const std::string &path) const
    {
        return (fs::path(line_.output) / (path + ".btf")).string();
    }

    /// Makes the output folder, and decides whether files of an earlier run may be kept: only if
    /// that run had the same settings, and without --force. Changes no files.
    Result<void> check_settings()
    {
        std::error_code error;
        fs::create_directories(line_.output, error);
        if (error)
            return fail(Where{line_.output}, "cannot be made: " + error.message());
        settings_text_ =
            strf("features %x\nself-contained %d\nrelease %s\nfrom %s\n", line_.features->bits(),
                 line_.self_contained, line_.release.c_str(), fs::absolute(line_.package).c_str());
        const auto before = read_file(settings_path_, 1 << 20);
        had_earlier_run_ = bool(before);
        keep_ = !line_.force && before && settings_text_ == as_text(*before);
        return {};
    }

    bool is_kept(const std::string &made, const std::string &from) const
    {
        struct stat mine, source, base;
        return keep_ && ::stat(made.c_str(), &mine) == 0 && ::stat(from.c_str(), &source) == 0 &&
               ::stat(vmlinux_btf_.c_str(), &base) == 0 &&
               time_of(mine.st_mtim) >= time_of(base.st_mtim) &&
               time_of(mine.st_mtim) >= time_of(source.st_mtim) &&
               // A file that was unpacked, moved or copied may have an old modification time.
               time_of(mine.st_mtim) >= time_of(source.st_ctim);
    }

    Result<void> begin_modules()
    {
        if (!line_.self_contained) {
            auto base = TRY(merge::read_indexed_base(vmlinux_btf_, ""));
            base_ = std::make_shared<const merge::Base>(std::move(base));
        }
        has_base_ = true;
        return {};
    }

    /// `path`: in the package. `file`: an open copy of a member of an archive; -1: read `from`.
    Result<void> add_module(const std::string &path, const std::string &from, int file)
    {
        if (file < 0 && is_kept(output_of(path), from)) {
            ++report_.modules;
            ++report_.kept;
            return {};
        }
        show_progress();
        TRY(pool_.add([&]() -> WorkResult {
            const std::string shown = file < 0 ? from : line_.package + "(" + path + ")";
            auto written = write_module(file < 0 ? from : path_of(file), shown, output_of(path));
            if (!written)
                return {true, beside_name(written.error(), shown)};
            return {false, *written ? "" : nothing};
        }));
        ++report_.modules;
        modules_.push_back(path); // count() needs one for each result of the pool
        return {};
    }

    void show_progress() { progress_.set("encoding modules", pool_.ended() + report_.kept, all_); }

    void count(const std::vector<WorkResult> &results)
    {
        for (size_t i = 0; i < results.size(); ++i) {
            const WorkResult &r = results[i];
            if (r.failed)
                report_.failed.push_back({Where{modules_[i]}, r.text});
            else if (r.text.empty())
                ++report_.written;
            else
                report_.without.push_back(modules_[i]);
        }
    }

    const EncodeCommandLine &line_;
    const std::string vmlinux_btf_, settings_path_;
    std::string settings_text_; // of this run; the file is empty while vmlinux.btf is replaced
    kbuild::PaholeOptions settings_;
    std::shared_ptr<const merge::Base> base_; // of modules; null if they are self-contained
    bool had_earlier_run_ = false, keep_ = false, has_base_ = false, is_single_ = false;
    bool has_other_image_ = false;     // a vmlinux of another release than --release names
    size_t all_ = 0;                   // number of modules; 0: unknown
    size_t too_early_ = 0;             // modules before vmlinux in this reading
    std::set<std::string> seen_;       // modules that were processed or kept, and refused members
    std::set<std::string> releases_;   // of vmlinux and modules, as known so far
    std::vector<std::string> modules_; // in the order in which they were added to the pool
    EncodeReport report_;
    WorkerPool pool_;
    Progress progress_;
};

void print_json(const EncodeReport &report)
{
    auto failure_json = [](const Error &error) {
        return JsonObject().text("module", error.where.file).text("what", error.what).result();
    };
    std::printf("{\n  \"modules\": %zu,\n  \"written\": %zu,\n  \"kept\": %zu,\n", report.modules,
                report.written, report.kept);
    std::printf("  \"without\": %s,\n  \"failed\": %s\n}\n",
                json_array(report.without, json_string).c_str(),
                json_lines(report.failed, failure_json, "    ").c_str());
}

} // namespace

int encode_command(int argc, char **argv)
{
    EncodeCommandLine line;
    line.features = *parse_features(kernel_features);
    auto given = read_options(encode_options, argc, argv, line);
    if (!given)
        return usage_error(given.error(), "encode");
    if (line.help)
        return answer(
            "Make BTF from the DWARF of a kernel and its modules.\n"
            "Usage: btf-kernel encode [OPTIONS] PACKAGE -o OUTPUT\n\n"
            "PACKAGE: a package of debug information (.deb, .rpm, tar), unpacked or not; a "
            "build\n\n" +
            options_text(encode_options));
    if (given->operands.size() != 1)
        return usage_error({{}, "one PACKAGE is required"}, "encode");
    if (line.output.empty())
        return usage_error({{}, "--output is required"}, "encode");
    line.package = given->operands[0];
    auto report = Encoder(line).run();
    if (!report)
        return input_error(report.error());
    if (line.json)
        print_json(*report);
    for (const Error &error : report->failed)
        print_error(error);
    if (!line.quiet && !line.json)
        std::printf("%zu of %zu modules encoded, %zu kept from an earlier run, %zu without types "
                    "to encode, %zu failed\n",
                    report->written, report->modules, report->kept, report->without.size(),
                    report->failed.size());
    return end_output(report->failed.empty() ? exit_good : exit_bad_input);
}

} // namespace btflink::kernel
