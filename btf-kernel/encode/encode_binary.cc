// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Does the work of btf-pahole, but reads the base only once.
#include "btf-kernel/encode/encode_binary.h"

#include "btf-kernel/package/archive.h"
#include "btf-kernel/package/limits.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "emit/dwarf/languages.h"
#include "merge/base_index/index_file.h"
#include "merge/merge.h"

#include <filesystem>

namespace btflink::kernel
{

namespace
{

namespace fs = std::filesystem;

constexpr const char no_dwarf[] = "has no DWARF to make BTF from";

/// Replaces the path in /proc of an unnamed file by `shown`.
Error about(Error error, const std::string &shown)
{
    if (error.where.file.empty() || error.where.file.starts_with("/proc/self/fd/"))
        error.where.file = shown;
    return error;
}

/// A compressed file, unpacked into memory; null if `file` is not compressed.
Result<std::shared_ptr<kbuild::ScratchFile>> unpacked(const std::string &file, const Where &where)
{
    auto parts = TRY(read_parts(file));
    if (!is_compressed(parts.bytes))
        return std::shared_ptr<kbuild::ScratchFile>();
    auto bytes = TRY(unpack(parts.bytes, most_of_module, where));
    auto scratch = kbuild::ScratchFile::create();
    if (scratch)
        TRY(write_file((*scratch)->path(), bytes));
    return scratch;
}

} // namespace

BinaryEncoder::BinaryEncoder(FeatureSet features, bool self_contained, std::string base_path)
    : self_contained_(self_contained), base_path_(std::move(base_path))
{
    settings_.features = features;
    settings_.filter.excluded_languages = *emit::parse_languages("rust"); // as kernels ask
}

Result<void> BinaryEncoder::merge(const std::string &input, const std::string &image,
                                  const std::string &output, unsigned threads) const
{
    merge::Options merge;
    merge.inputs = {input};
    merge.image = image;
    merge.features = settings_.features;
    merge.threads = threads;
    merge.output = output;
    if (image.empty() && !self_contained_) {
        merge.base = base_path_;
        merge.read_base = base_;
    }
    merge::Report ignored;
    return merge::merge(merge, ignored);
}

Result<void> BinaryEncoder::encode_vmlinux(const std::string &file, const std::string &shown,
                                           unsigned threads)
{
    kbuild::PaholeOptions settings = settings_;
    settings.jobs = threads;
    kbuild::ForeignReport report;
    auto made = kbuild::encode_foreign(file, {}, settings, report);
    if (!made)
        return fail(about(made.error(), shown));
    if (!*made)
        return fail(Where{shown}, report.no_dwarf ? no_dwarf : "its DWARF has nothing for BTF");
    if (auto merged = merge((*made)->path(), file, base_path_, threads); !merged)
        return fail(about(merged.error(), shown));
    return {};
}

Result<void> BinaryEncoder::read_base()
{
    if (self_contained_)
        return {};
    auto base = TRY(merge::read_base(base_path_));
    merge::add_index(base);
    base_ = std::make_shared<const merge::Base>(std::move(base));
    return {};
}

/// Returns false if the DWARF has nothing to encode.
Result<bool> BinaryEncoder::write_module(const std::string &file, const std::string &shown,
                                         const std::string &output) const
{
    std::error_code error;
    const fs::path folder = fs::path(output).parent_path();
    fs::create_directories(folder, error);
    if (error)
        return fail(Where{folder.string()}, "cannot be made: " + error.message());
    fs::remove(output, error); // from an earlier run, perhaps over another vmlinux
    auto plain = TRY(unpacked(file, Where{shown}));
    kbuild::ForeignReport report;
    auto made = TRY(kbuild::encode_object(plain ? plain->path() : file, settings_, report));
    if (report.no_dwarf)
        return fail(Where{shown}, no_dwarf);
    if (!made)
        return false;
    TRY(merge(made->path(), "", output, 1));
    return true;
}

WorkResult BinaryEncoder::encode_module(const std::string &file, const std::string &shown,
                                        const std::string &output) const
{
    auto written = write_module(file, shown, output);
    if (!written)
        return {true, about(written.error(), shown).str()};
    return {false, *written ? "" : "nothing"};
}

} // namespace btflink::kernel
