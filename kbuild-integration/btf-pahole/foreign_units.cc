// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "kbuild-integration/btf-pahole/foreign_units.h"

#include "emit/emit.h"

#include <sys/mman.h>
#include <unistd.h>

namespace btflink::kbuild
{

namespace
{

emit::EmitOptions emit_options(const PaholeOptions &options)
{
    emit::EmitOptions emit;
    emit.unit.features = options.features;
    emit.unit.features.add(Feature::encode_force); // see encode()
    emit.filter = options.filter;
    emit.image = true;
    emit.threads = options.jobs;
    return emit;
}

/// The BTF of `file`, emitted as `emit` says into the file in memory that it names. Variables that
/// cannot be expressed are an error unless `force`, but all are found.
Result<std::shared_ptr<ScratchFile>>
encode(const std::string &file, std::shared_ptr<ScratchFile> scratch, const emit::EmitOptions &emit,
       bool needs_dwarf, bool force, std::vector<emit::RejectedVariable> &rejected)
{
    auto report = emit::emit_file(file, emit);
    if (!report)
        return tl::unexpected(report.error());
    rejected.insert(rejected.end(), report->rejected.begin(), report->rejected.end());
    if (!force && !report->rejected.empty())
        return tl::unexpected(report->rejected.front().why);
    if (report->outcome == emit::EmitReport::Outcome::no_dwarf && needs_dwarf)
        return fail(Where{file}, "has neither object BTF nor DWARF to make BTF of");
    if (report->outcome != emit::EmitReport::Outcome::written)
        scratch = nullptr;
    return scratch;
}

Result<std::shared_ptr<ScratchFile>>
encode_relocatable(const std::string &object, const PaholeOptions &options, bool keep_what_is_there,
                   std::vector<emit::RejectedVariable> &rejected)
{
    auto scratch = ScratchFile::create();
    if (!scratch)
        return scratch;
    emit::EmitOptions emit = emit_options(options);
    emit.output = (*scratch)->path();
    emit.complete = keep_what_is_there;
    emit.unit.address_pool = true;
    return encode(object, *scratch, emit, !keep_what_is_there,
                  options.features.has(Feature::encode_force), rejected);
}

} // namespace

ScratchFile::ScratchFile(int fd) : fd_(fd), path_("/proc/self/fd/" + std::to_string(fd)) {}

ScratchFile::~ScratchFile()
{
    ::close(fd_);
}

Result<std::shared_ptr<ScratchFile>> ScratchFile::create()
{
    int fd = ::memfd_create("btf-pahole", MFD_CLOEXEC);
    if (fd < 0)
        return fail_errno({}, "cannot create a file in memory");
    return std::shared_ptr<ScratchFile>(new ScratchFile(fd));
}

Result<std::shared_ptr<ScratchFile>> encode_foreign(const std::string &image,
                                                    std::span<const std::string_view> covered,
                                                    const PaholeOptions &options,
                                                    std::vector<emit::RejectedVariable> &rejected)
{
    auto scratch = ScratchFile::create();
    if (!scratch)
        return scratch;
    emit::EmitOptions emit = emit_options(options);
    emit.detached = (*scratch)->path();
    for (std::string_view source : covered)
        if (!source.empty())
            ++emit.covered[std::string(source)];
    return encode(image, *scratch, emit, covered.empty(),
                  options.features.has(Feature::encode_force), rejected);
}

Result<std::shared_ptr<ScratchFile>> complete_object(const std::string &object,
                                                     const PaholeOptions &options,
                                                     std::vector<emit::RejectedVariable> &rejected)
{
    return encode_relocatable(object, options, true, rejected);
}

Result<std::shared_ptr<ScratchFile>> encode_object(const std::string &object,
                                                   const PaholeOptions &options,
                                                   std::vector<emit::RejectedVariable> &rejected)
{
    return encode_relocatable(object, options, false, rejected);
}

} // namespace btflink::kbuild
