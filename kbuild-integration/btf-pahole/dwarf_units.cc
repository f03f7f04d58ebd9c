// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs the encoder on linked files, modules and objects of modules. The output stays in memory.
#include "kbuild-integration/btf-pahole/steps.h"

#include "emit/emit.h"

#include <sys/mman.h>

namespace btflink::kbuild
{

namespace
{

emit::EmitOptions emit_options(const PaholeOptions &options)
{
    emit::EmitOptions emit;
    emit.unit.features = options.features;
    emit.unit.features.add(Feature::encode_force); // encode() judges rejected variables
    emit.filter = options.filter;
    emit.image = true;
    emit.threads = options.jobs;
    return emit;
}

/// Returns an error of emit_file() as a failure. If the error names the output in memory, whose
/// path users do not know, `file` replaces that path.
Failure encode_error(Error error, const std::string &file, const emit::EmitOptions &emit)
{
    const std::string &place = error.where.file;
    if (!place.empty() && (place == emit.output || place == emit.detached))
        error.where.file = file;
    return fail(std::move(error));
}

/// Encodes `file`. Returns whether anything was encoded. Variables that BTF cannot express are
/// reported; unless `options` have Feature::encode_force, they are an error. `alone`: no other
/// object BTF is merged.
Result<bool> encode(const std::string &file, const emit::EmitOptions &emit,
                    const PaholeOptions &options, bool alone, DwarfReport &report)
{
    auto result = emit::emit_file(file, emit);
    if (!result)
        return encode_error(std::move(result).error(), file, emit);
    emit::EmitReport &emitted = *result;
    report.rejected.insert(report.rejected.end(), emitted.rejected.begin(), emitted.rejected.end());
    if (!emitted.rejected.empty() && !options.features.has(Feature::encode_force))
        return fail(emitted.rejected.front().why);
    report.no_dwarf = alone && emitted.outcome == emit::EmitReport::Outcome::no_dwarf;
    // If nothing is encoded, units that were not read (such as split DWARF without its .dwo files)
    // are no reason to warn: the objects to be merged may have BTF for them.
    if (alone || emitted.btf_bytes)
        for (std::string &line : emit::warnings(file, emitted))
            report.warnings.push_back(std::move(line));
    return emitted.outcome == emit::EmitReport::Outcome::written;
}

} // namespace

Result<Scratch> ScratchFile::create(const std::string &original)
{
    int fd = ::memfd_create("btf-pahole", MFD_CLOEXEC);
    if (fd < 0)
        return fail_errno({}, "cannot create a file in memory");
    return Scratch(new ScratchFile(fd, original));
}

Result<Scratch> encode_uncovered(const std::string &image,
                                 std::span<const std::string_view> covered,
                                 const PaholeOptions &options, DwarfReport &report)
{
    auto scratch = TRY(ScratchFile::create(image));
    emit::EmitOptions emit = emit_options(options);
    emit.detached = scratch->path();
    for (std::string_view source : covered)
        if (!source.empty())
            ++emit.covered[std::string(source)];
    const bool written = TRY(encode(image, emit, options, covered.empty(), report));
    return written ? scratch : nullptr;
}

Result<void> gather_units(const std::string &image, const PaholeOptions &options,
                          merge::Gatherer &out, DwarfReport &report)
{
    emit::EmitOptions emit = emit_options(options);
    emit.take = [&](uint32_t number, emit::OpenUnit unit) {
        return out.add(number, unit.btf.view(), std::move(unit.trailer), unit.order, unit.strings);
    };
    TRY(encode(image, emit, options, true, report));
    return {};
}

Result<Scratch> encode_object(const std::string &object, const PaholeOptions &options,
                              bool keep_btf, DwarfReport &report)
{
    auto scratch = TRY(ScratchFile::create(object));
    emit::EmitOptions emit = emit_options(options);
    emit.output = scratch->path();
    emit.add_missing_units = keep_btf;
    emit.leave_out_dwarf = true; // DWARF is nine tenths of the file
    emit.unit.address_pool = true;
    const bool written = TRY(encode(object, emit, options, !keep_btf, report));
    return written ? scratch : nullptr;
}

} // namespace btflink::kbuild
