// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Encodes vmlinux by all processors, reads its BTF once, and then modules over it, each by one
// processor: btf-pahole's way, but for the base that is read for each module there.
#include "kbuild-integration/btf-kernel/encode/encode_kernel.h"

#include "common/io/file_io.h"
#include "emit/dwarf/languages.h"
#include "kbuild-integration/btf-kernel/encode/worker_pool.h"
#include "kbuild-integration/btf-kernel/package/kernel.h"
#include "kbuild-integration/btf-pahole/foreign_units.h"
#include "merge/base_index/index_file.h"
#include "merge/input/final_btf.h"
#include "merge/merge.h"

#include <filesystem>

namespace btflink::kernel
{

namespace
{

namespace fs = std::filesystem;
using State = WorkResult::State;

class Encoder
{
public:
    explicit Encoder(const EncodeOptions &options) : options_(options)
    {
        settings_.features = options.features;
        settings_.filter.excluded_languages = *emit::parse_languages("rust"); // as kernels ask
    }

    Result<EncodeReport> run()
    {
        auto files = find_kernel_files(options_.folder, options_.release);
        if (!files)
            return tl::unexpected(files.error());
        files_ = std::move(*files);
        if (files_.vmlinux.empty())
            return fail(Where{options_.folder}, "has no vmlinux");
        RETURN_IF_ERROR(check_settings());
        RETURN_IF_ERROR(encode_vmlinux());
        auto results = run_workers(
            files_.modules.size(), options_.jobs, [&](size_t i) { return encode_module(i); },
            [&](size_t done) {
                if (options_.progress)
                    options_.progress(done, files_.modules.size());
            });
        if (!results)
            return tl::unexpected(results.error());
        return count(*results);
    }

private:
    std::string source(const std::string &path) const
    {
        return (fs::path(options_.folder) / path).string();
    }
    std::string result(const std::string &path) const
    {
        return (fs::path(options_.output) / (path + ".btf")).string();
    }
    std::string vmlinux_btf() const { return (fs::path(options_.output) / "vmlinux.btf").string(); }

    Result<void> make_folder(const fs::path &folder) const
    {
        std::error_code error;
        fs::create_directories(folder, error);
        if (error)
            return fail(Where{folder.string()}, "cannot be made: " + error.message());
        return {};
    }

    /// What was made with other settings is not kept.
    Result<void> check_settings()
    {
        RETURN_IF_ERROR(make_folder(options_.output));
        const std::string path = (fs::path(options_.output) / "btf-kernel.settings").string();
        const std::string now =
            strf("features %x\nself-contained %d\nfrom %s\n", options_.features.bits(),
                 options_.self_contained, fs::absolute(options_.folder).c_str());
        auto before = read_file(path, 1 << 20);
        keep_ = !options_.anew && before &&
                now == std::string(reinterpret_cast<const char *>(before->data()), before->size());
        std::error_code ignored;
        if (!keep_) // or a run that ends early leaves old results to be taken for new ones
            fs::remove(vmlinux_btf(), ignored);
        return write_file(path, as_bytes(now));
    }

    static bool is_newer(const std::string &made, const std::string &than)
    {
        std::error_code error;
        const auto a = fs::last_write_time(made, error);
        if (error)
            return false;
        const auto b = fs::last_write_time(than, error);
        return !error && a >= b;
    }

    Result<void> merge(const std::string &input, const std::string &image,
                       const std::string &output, unsigned threads) const
    {
        merge::Options merge;
        merge.inputs = {input};
        merge.image = image;
        merge.features = options_.features;
        merge.threads = threads;
        merge.output = output;
        if (image.empty() && !options_.self_contained) {
            merge.base = vmlinux_btf();
            merge.read_base = base_;
        }
        merge::Report ignored;
        return merge::merge(merge, ignored);
    }

    Result<void> encode_vmlinux()
    {
        const std::string image = source(files_.vmlinux), output = vmlinux_btf();
        if (!(keep_ && is_newer(output, image))) {
            kbuild::PaholeOptions settings = settings_;
            settings.jobs = options_.jobs;
            kbuild::ForeignReport report;
            auto made = kbuild::encode_foreign(image, {}, settings, report);
            if (!made)
                return tl::unexpected(made.error());
            if (!*made)
                return fail(Where{image}, "its DWARF has nothing for BTF");
            RETURN_IF_ERROR(merge((*made)->path(), image, output, options_.jobs));
        }
        if (options_.self_contained)
            return {};
        auto base = merge::read_base(output);
        if (!base)
            return tl::unexpected(base.error());
        merge::add_index(*base);
        base_ = std::make_shared<const merge::Base>(std::move(*base));
        return {};
    }

    /// In a process of its own.
    WorkResult encode_module(size_t i) const
    {
        const std::string from = source(files_.modules[i]), to = result(files_.modules[i]);
        if (keep_ && is_newer(to, from) && is_newer(to, vmlinux_btf()))
            return {State::skipped, ""};
        if (auto folder = make_folder(fs::path(to).parent_path()); !folder)
            return {State::failed, folder.error().str()};
        std::error_code none;
        fs::remove(to, none); // of an earlier run, perhaps over another vmlinux
        kbuild::ForeignReport report;
        auto made = kbuild::encode_object(from, settings_, report);
        if (!made)
            return {State::failed, made.error().str()};
        if (!*made)
            return {State::done, "nothing"};
        if (auto merged = merge((*made)->path(), "", to, 1); !merged)
            return {State::failed, from + ": " + merged.error().str()};
        return {State::done, ""};
    }

    EncodeReport count(const std::vector<WorkResult> &results) const
    {
        EncodeReport report;
        report.modules = results.size();
        for (size_t i = 0; i < results.size(); ++i) {
            const WorkResult &r = results[i];
            if (r.state == State::failed)
                report.failed.push_back({Where{files_.modules[i]}, r.text});
            else if (r.state == State::skipped)
                ++report.kept;
            else if (r.text.empty())
                ++report.written;
            else
                report.without.push_back(files_.modules[i]);
        }
        return report;
    }

    const EncodeOptions &options_;
    kbuild::PaholeOptions settings_;
    KernelFiles files_;
    bool keep_ = false;
    std::shared_ptr<const merge::Base> base_;
};

} // namespace

Result<EncodeReport> encode_kernel(const EncodeOptions &options)
{
    return Encoder(options).run();
}

} // namespace btflink::kernel
