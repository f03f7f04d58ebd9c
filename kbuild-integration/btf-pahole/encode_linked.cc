// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Problem: BTF for a linked file. Where does it come from?
//
//     vmlinux              the objects it was linked from: vmlinux.o and a few more
//     a module             the module itself: `ld -r` keeps object BTF
//     a module, again      Kbuild remakes the BTF of a module when vmlinux has changed, without
//                          linking it: its object BTF is gone, that of its objects is not
//     units without        DWARF of the linked file
//     object BTF
//     bitcode among what   DWARF of the module
//     a module is linked of
//     anything else        DWARF of the linked file
//
// Method: choose the inputs, then btf-merge in this process. Once it knows which units its inputs
// cover, the others are encoded into a file in memory that becomes one more input (a linked file),
// or are added to a copy in memory of the file itself (a relocatable one, where the linker has not
// decided addresses, and relocations must go along). Of a linked file none of whose units has
// object BTF nothing is put into a file: gather_units() (foreign_units.h) gives the units to
// merge/gather as they are made, which bounds memory.
//
// Invariant: the file is written once, at the end.
#include "kbuild-integration/btf-pahole/encode_linked.h"

#include "common/io/file_io.h"
#include "kbuild-integration/btf-pahole/fill_ids.h"
#include "kbuild-integration/btf-pahole/foreign_units.h"
#include "kbuild-integration/btf-pahole/link_inputs.h"
#include "kbuild-integration/environment.h"
#include "merge/merge.h"
#include "merge/output/write_elf.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace btflink::kbuild
{

namespace
{

/// Why there is nothing to encode.
enum class Lack : uint8_t { types, dwarf, symbols, bytes };

/// The inputs of btf-merge, and what must live until they have been read.
struct MergeInputs {
    std::vector<std::string> inputs;
    std::string image;                         // empty: the inputs say themselves where things are
    std::shared_ptr<merge::Gatherer> gathered; // in place of inputs
    std::vector<std::shared_ptr<ScratchFile>> scratch;
    Lack lack = Lack::types; // if there is nothing to encode
};

/// A relocatable file: `files`, each completed by what its DWARF has beyond its object BTF.
Result<MergeInputs> complete_all(const std::vector<std::string> &files,
                                 const PaholeOptions &options, ForeignReport &report)
{
    MergeInputs sources;
    for (const std::string &file : files) {
        auto completed = TRY(complete_object(file, options, report));
        sources.inputs.push_back(completed ? completed->path() : file);
        sources.scratch.push_back(std::move(completed));
    }
    return sources;
}

/// BTF made from a file's DWARF alone, if the DWARF had anything to encode.
Result<MergeInputs> by_dwarf(Result<std::shared_ptr<ScratchFile>> made)
{
    if (!made)
        return fail(made.error());
    MergeInputs sources;
    if (*made) {
        sources.inputs = {(*made)->path()};
        sources.scratch = {*made};
    }
    return sources;
}

Result<MergeInputs> sources_of_module(const std::string &module, const PaholeOptions &options,
                                      ForeignReport &report)
{
    auto fresh = TRY(has_object_btf(module));
    if (fresh)
        return complete_all({module}, options, report);
    std::vector<std::string> objects = module_inputs(module);
    for (const std::string &object : objects) {
        auto has = TRY(has_object_btf(object));
        // What the linker made of bitcode is described in the module alone.
        if (has && std::none_of(objects.begin(), objects.end(), is_bitcode_file))
            return complete_all(objects, options, report);
    }
    return by_dwarf(encode_object(module, options, report));
}

Result<MergeInputs> sources_of(const std::string &file, const PaholeOptions &options, bool strict,
                               ForeignReport &report)
{
    MergeInputs sources;
    std::error_code unknown;
    if (fs::is_regular_file(file, unknown) && fs::file_size(file, unknown) == 0) {
        sources.lack = Lack::bytes;
        return sources;
    }
    auto linked = TRY(look_at_link(file));
    if (linked.relocatable)
        return sources_of_module(file, options, report);
    sources.image = file;
    auto inputs = TRY(vmlinux_inputs(file));
    if (!inputs.empty()) {
        sources.inputs = std::move(inputs);
    } else if (!linked.has_symbols) { // its DWARF may be in another file; it has no functions
        sources.lack = Lack::symbols;
    } else if (options.base.empty() && !strict) {
        sources.gathered = std::make_shared<merge::Gatherer>(Where{file});
        TRY(gather_units(file, options, *sources.gathered, report));
    } else {
        auto whole = by_dwarf(encode_foreign(file, {}, options, report));
        if (!whole)
            return whole;
        sources.inputs = std::move(whole->inputs);
        sources.scratch = std::move(whole->scratch);
    }
    return sources;
}

/// BTF that an earlier run left there would be taken for that of the file as it is now. A link
/// stays, as it does where there is something to write.
Result<void> drop_stale(const std::string &detached)
{
    std::error_code error;
    const fs::path file = fs::canonical(detached, error);
    if (error || !fs::is_regular_file(file, error))
        return {}; // /dev/null, perhaps
    if (::unlink(file.c_str()) != 0)
        return fail_errno(Where{detached}, "is of an earlier run, and cannot be removed");
    return {};
}

/// There is nothing to encode. pahole never sees an error in that.
Result<void> end_without_btf(const std::string &file, Lack lack, bool strict,
                             const PaholeOptions &options, EncodeReport &report)
{
    constexpr const char *texts[] = {"has nothing for BTF in its DWARF",
                                     "has neither object BTF nor DWARF", "has no symbol table",
                                     "is empty"};
    const std::string text = texts[static_cast<size_t>(lack)];
    const std::string but =
        lack == Lack::types ? "" : why_not_without_types(file, lack == Lack::bytes);
    if (!but.empty())
        return fail(Where{file}, text + ", but " + but);
    if (strict)
        return fail(Where{file}, text);
    report.warnings.push_back(file + ": " + text + ", so it gets no BTF");
    return drop_stale(options.detached);
}

/// Fill in .BTF_ids of a module that has just got its BTF. On error it gets its bytes of `before`.
Result<void> fill_module(const std::string &file, const std::string &base, Bytes before,
                         EncodeReport &report)
{
    auto missing = fill_btf_ids(file, base);
    if (!missing) {
        TRY(write_file(file, before));
        return fail(missing.error());
    }
    for (const std::string &name : *missing)
        report.warnings.push_back(file + ": .BTF_ids wants the id of " + name +
                                  ", which the BTF does not have; it is 0");
    return {};
}

/// Where Kbuild's folder has room for an index of a vmlinux that Kbuild has linked there: `make
/// clean` removes .tmp_*. Other folders, such as a distribution's headers, get no file; empty.
std::string index_of(const std::string &base)
{
    const size_t slash = base.rfind('/') + 1; // 0: there is none
    const std::string folder = base.substr(0, slash), name = base.substr(slash);
    const std::string command = folder + "." + name + ".cmd";
    return !name.empty() && ::access(command.c_str(), F_OK) == 0
               ? folder + ".tmp_" + name + ".btf-index"
               : "";
}

} // namespace

Result<void> encode_linked(const std::string &file, const PaholeOptions &options,
                           EncodeReport &report)
{
    if (same_file(options.detached, file) ||
        same_file(options.detached, options.base)) // its inputs may be files in memory
        return fail(Where{options.detached}, "is an input, too; it would be overwritten");
    auto strict = TRY(switch_variable("BTF_PAHOLE_STRICT"));
    auto no_index = TRY(switch_variable("BTF_PAHOLE_NO_INDEX"));
    auto no_layout = TRY(switch_variable("BTF_PAHOLE_NO_LAYOUT"));
    const bool fill_ids = TRY(switch_variable("BTF_PAHOLE_FILL_IDS")) && options.detached.empty();
    auto sources = TRY(sources_of(file, options, strict, report));
    const bool gathered = sources.gathered && !sources.gathered->empty();
    const std::string foreign_note = file + ": units without object BTF are encoded from DWARF";
    if (gathered || std::any_of(sources.scratch.begin(), sources.scratch.end(),
                                [](const auto &scratch) { return scratch != nullptr; }))
        report.notes.push_back(foreign_note);
    if (sources.inputs.empty() && !gathered)
        return end_without_btf(file, report.no_dwarf ? Lack::dwarf : sources.lack, strict, options,
                               report);

    merge::Options merge;
    merge.verify = strict;
    merge.inputs = sources.inputs;
    merge.image = sources.image;
    merge.gathered = std::move(sources.gathered);
    merge.base = options.base;
    if (!no_index)
        merge.base_index = index_of(options.base);
    merge.features = options.features;
    merge.threads = options.jobs;
    merge.auto_threads = true;
    merge.last = true;
    if (no_layout) // programs with cilium/ebpf of before June 2026 refuse BTF that has one
        merge.features.remove(Feature::layout);
    if (!options.detached.empty()) // as pahole does: there is no section for it
        merge.features.remove(Feature::distilled_base);
    (options.detached.empty() ? merge.update : merge.output) =
        options.detached.empty() ? file : options.detached;
    if (!sources.image.empty() && sources.scratch.empty() && !gathered)
        merge.complete =
            [&](std::span<const std::string_view> covered) -> Result<std::vector<std::string>> {
            auto foreign = TRY(encode_foreign(file, covered, options, report));
            if (!foreign)
                return std::vector<std::string>();
            sources.scratch.push_back(foreign);
            report.notes.push_back(foreign_note);
            return std::vector<std::string>{foreign->path()};
        };

    std::vector<std::byte> before;
    if (fill_ids)
        before = TRY(read_file(file));
    merge::Report merged;
    Result<void> done = merge::merge(merge, merged);
    report.warnings.insert(report.warnings.end(), merged.warnings.begin(), merged.warnings.end());
    report.notes.insert(report.notes.end(), merged.notes.begin(), merged.notes.end());
    report.functions_left_out = std::move(merged.functions_left_out);
    if (done && fill_ids && sources.image.empty())
        done = fill_module(file, options.base, before, report);
    // If the BTF is written to another file, somebody else puts it into the module, and must not
    // find a `.BTF` there.
    if (done && !options.detached.empty() && sources.image.empty())
        done = merge::remove_object_btf(file);
    // Even if a module's BTF did not change, the module must be newer than the vmlinux that the BTF
    // was made over. A linked file whose BTF goes to another file was only read.
    if (done && (options.detached.empty() || sources.image.empty()))
        (void)!::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
    report.written = done.has_value();
    return done;
}

} // namespace btflink::kbuild
