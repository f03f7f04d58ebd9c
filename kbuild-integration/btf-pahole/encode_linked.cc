// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the final BTF of a linked file: vmlinux, a module or a program.
//
// Problem. The source of the BTF depends on the file:
//
//     vmlinux              the objects from which it was linked: vmlinux.o and a few more
//     a module,            the module itself: `ld -r` keeps object BTF
//     just linked
//     a module             the module's objects. When vmlinux has changed, Kbuild of 6.12 and
//     linked earlier       older makes the module's BTF again without a new link, so the module
//                          has no object BTF any more
//     units without        DWARF of the linked file or, for a module linked earlier, of its objects
//     object BTF
//     a module linked      DWARF of the module
//     from bitcode
//     anything else        DWARF of the linked file
//
// Method. Choose the inputs, then run btf-merge in this process. Units without object BTF are
// encoded by dwarf_units.cc, and reach btf-merge in one of these ways:
//
//     vmlinux with         btf-merge calls back when it knows which units its inputs cover. The
//     object BTF           other units are encoded into a file in memory, which is one more input
//     a relocatable file   the units are added to a copy of the file in memory, because addresses
//                          are not final and relocations must be kept
//     anything else        gather_units() passes units to merge/gather one by one, to limit memory.
//                          merge/gather supports neither a base nor BTF_PAHOLE_STRICT=1; with
//                          these, the units are encoded into a file in memory
//
// Invariant. The BTF is written once, at the end. With BTF_PAHOLE_FILL_IDS=1, .BTF_ids of a module
// is filled in afterwards, unless the BTF is detached. On an error the file has its old contents.
#include "kbuild-integration/btf-pahole/steps.h"

#include "common/io/file_io.h"
#include "kbuild-integration/environment.h"
#include "merge/merge.h"
#include "merge/output/write_elf.h"

#include <algorithm>
#include <cctype>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace btflink::kbuild
{

namespace
{

/// What a file with nothing to encode lacks.
enum class MissingPart : uint8_t { types, dwarf, symbols, contents };

/// The inputs of btf-merge, and the files in memory that must live until they have been read.
struct MergeSources {
    std::vector<std::string> inputs;
    std::string image; // empty for a module: the merge needs only the inputs
    std::shared_ptr<merge::Gatherer> gathered; // in place of inputs
    std::vector<Scratch> scratch;
    MissingPart missing = MissingPart::types; // if there is nothing to encode
};

/// `files`, which are relocatable, each with object BTF added for units that have only DWARF.
Result<MergeSources> with_missing_units(const std::vector<std::string> &files,
                                        const PaholeOptions &options, DwarfReport &report)
{
    MergeSources sources;
    for (const std::string &file : files) {
        auto completed = TRY(encode_object(file, options, true, report));
        sources.inputs.push_back(completed ? completed->path() : file);
        sources.scratch.push_back(std::move(completed));
    }
    return sources;
}

/// `made`: object BTF from DWARF; null if there is no DWARF, or nothing in it to encode.
Result<MergeSources> sources_from_dwarf(Result<Scratch> made)
{
    if (!made)
        return fail(made.error());
    MergeSources sources;
    if (*made) {
        sources.inputs = {(*made)->path()};
        sources.scratch = {*made};
    }
    return sources;
}

Result<MergeSources> sources_of_module(const std::string &module, const PaholeOptions &options,
                                       DwarfReport &report)
{
    if (TRY(has_object_btf(module)))
        return with_missing_units({module}, options, report);
    std::vector<std::string> objects = module_inputs(module);
    for (const std::string &object : objects) {
        // Only the module describes the code that the linker made from bitcode.
        if (TRY(has_object_btf(object)) && std::ranges::none_of(objects, is_bitcode_file))
            return with_missing_units(objects, options, report);
    }
    return sources_from_dwarf(encode_object(module, options, false, report));
}

Result<MergeSources> sources_of(const std::string &file, const PaholeOptions &options, bool strict,
                                DwarfReport &report)
{
    MergeSources sources;
    std::error_code unknown;
    if (fs::is_regular_file(file, unknown) && fs::file_size(file, unknown) == 0) {
        sources.missing = MissingPart::contents;
        return sources;
    }
    auto linked = TRY(look_at_link(file));
    if (linked.relocatable)
        return sources_of_module(file, options, report);
    sources.image = file;
    auto inputs = TRY(vmlinux_inputs(file));
    if (!inputs.empty()) {
        sources.inputs = std::move(inputs);
    } else if (!linked.has_symbols) { // symbols show which functions exist
        sources.missing = MissingPart::symbols;
    } else if (options.base.empty() && !strict) {
        sources.gathered = std::make_shared<merge::Gatherer>(Where{file});
        TRY(gather_units(file, options, *sources.gathered, report));
    } else {
        sources = TRY(sources_from_dwarf(encode_uncovered(file, {}, options, report)));
        sources.image = file;
    }
    return sources;
}

/// There is nothing to encode: warns, and removes an old options.detached. Fails if `strict` is
/// set, or if BTF was due and `missing` is not MissingPart::types. (For pahole this is never an
/// error.)
Result<void> end_without_btf(const std::string &file, MissingPart missing, bool strict,
                             const PaholeOptions &options, EncodeReport &report)
{
    constexpr const char *texts[] = {
        "has nothing for BTF in its DWARF", "has neither object BTF nor DWARF",
        "has no symbol table (its debug file may have one)", "is empty"};
    const std::string text = texts[static_cast<size_t>(missing)];
    const std::string due =
        missing == MissingPart::types ? "" : why_btf_is_due(file, missing == MissingPart::contents);
    if (!due.empty())
        return fail(Where{file}, text + ", but " + due);
    if (strict)
        return fail(Where{file}, text);
    report.warnings.push_back(file + ": " + text + ", so it gets no BTF");
    return remove_output(options.detached);
}

/// The merge found nothing to encode, and warned: fails if BTF was due or `strict` is set.
Result<void> end_without_types(const std::string &file, bool strict)
{
    const std::string text = "its objects give it no BTF";
    if (const std::string due = why_btf_is_due(file, false); !due.empty())
        return fail(Where{file}, text + ", but " + due);
    if (strict)
        return fail(Where{file}, text);
    return {};
}

/// Fills in .BTF_ids of a module that has just got its BTF. On an error the module is restored to
/// its old contents, `before`.
Result<void> fill_module(const std::string &file, const std::string &base, Bytes before,
                         EncodeReport &report)
{
    auto missing = fill_btf_ids(file, base);
    if (!missing) {
        TRY(write_file(file, before));
        return fail(missing.error());
    }
    for (const std::string &name : *missing)
        report.warnings.push_back(file + ": .BTF_ids asks for the id of " + name +
                                  ", which the BTF lacks; the id stays 0");
    return {};
}

/// The path for an index of `base`: next to `base`, if Kbuild has linked `base` there, which its
/// .cmd file shows. Empty for other folders, such as a distribution's headers. The name begins with
/// .tmp_, so `make clean` removes the index.
std::string index_of(const std::string &base)
{
    const std::string name(base_name(base)), folder = base.substr(0, base.size() - name.size());
    const std::string command = folder + "." + name + ".cmd";
    return !name.empty() && ::access(command.c_str(), F_OK) == 0
               ? folder + ".tmp_" + name + ".btf-index"
               : "";
}

/// The environment variables BTF_PAHOLE_* that are 0 or 1.
struct Switches {
    bool strict, no_index, no_layout, fill_ids;
};

Result<Switches> read_switches()
{
    Switches out;
    out.strict = TRY(switch_variable("BTF_PAHOLE_STRICT"));
    out.no_index = TRY(switch_variable("BTF_PAHOLE_NO_INDEX"));
    out.no_layout = TRY(switch_variable("BTF_PAHOLE_NO_LAYOUT"));
    out.fill_ids = TRY(switch_variable("BTF_PAHOLE_FILL_IDS"));
    return out;
}

/// Returns the options of btf-merge that correspond to those of pahole.
merge::Options merge_options(const std::string &file, const PaholeOptions &options,
                             const Switches &switches)
{
    merge::Options merge;
    merge.verify = switches.strict;
    merge.base = options.base;
    if (!switches.no_index)
        merge.base_index = index_of(options.base);
    merge.features = options.features;
    merge.threads = options.jobs;
    merge.last = true;
    // Programs with cilium/ebpf from before June 2026 refuse a layout section.
    if (switches.no_layout)
        merge.features.remove(Feature::layout);
    if (options.detached.empty()) {
        merge.update = file;
    } else {
        merge.output = options.detached;
        merge.features.remove(Feature::distilled_base); // raw BTF has no section for it
    }
    return merge;
}

/// Is any input made from DWARF?
bool is_from_dwarf(const MergeSources &sources)
{
    return (sources.gathered && !sources.gathered->empty()) ||
           std::ranges::any_of(sources.scratch,
                               [](const auto &scratch) { return scratch != nullptr; });
}

/// In a message, puts the path of the original in place of the path of a file in memory.
void show_original(std::string &text, const ScratchFile &file)
{
    for (size_t at = 0; (at = text.find(file.path(), at)) != text.npos;) {
        const size_t end = at + file.path().size();
        if (end < text.size() && std::isdigit(text[end])) { // another file in memory
            at = end;
            continue;
        }
        text.replace(at, file.path().size(), file.original());
        at += file.original().size();
    }
}

/// Calls show_original() for all `files` and all messages.
void show_originals(const std::vector<Scratch> &files, Result<void> &done, EncodeReport &report)
{
    for (const Scratch &file : files) {
        if (!file)
            continue;
        for (std::string &text : report.warnings)
            show_original(text, *file);
        for (std::string &text : report.notes)
            show_original(text, *file);
        if (!done) {
            show_original(done.error().where.file, *file);
            show_original(done.error().what, *file);
        }
    }
}

/// The last steps, after the BTF is written.
Result<void> finish(const std::string &file, bool is_relocatable, bool fill_ids, Bytes before,
                    const PaholeOptions &options, EncodeReport &report)
{
    const bool in_place = options.detached.empty();
    if (fill_ids)
        TRY(fill_module(file, options.base, before, report));
    // Another program puts detached BTF into the module, and must not find object BTF there.
    if (is_relocatable && !in_place)
        TRY(merge::remove_object_btf(file));
    // For make, a module must be newer than the vmlinux over which its BTF was made, even if the
    // BTF did not change. A vmlinux or program whose BTF goes to another file was only read.
    if (is_relocatable || in_place)
        (void)!::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
    return {};
}

} // namespace

Result<void> encode_linked(const std::string &file, const PaholeOptions &options,
                           EncodeReport &report)
{
    if (file.empty())
        return fail({}, "the name of the file to encode is empty");
    // If btf-merge reads a copy of its input in memory, it does not notice that the output is the
    // same file as the input.
    if (same_file(options.detached, file) || same_file(options.detached, options.base))
        return fail(Where{options.detached}, "is an input, too; it would be overwritten");
    const Switches switches = TRY(read_switches());
    auto sources = TRY(sources_of(file, options, switches.strict, report));
    const bool from_dwarf = is_from_dwarf(sources);
    const std::string dwarf_note = file + ": units without object BTF are encoded from DWARF";
    if (from_dwarf)
        report.notes.push_back(dwarf_note);
    const bool is_relocatable = sources.image.empty();
    if (sources.inputs.empty() && !(sources.gathered && !sources.gathered->empty()))
        return end_without_btf(file, report.no_dwarf ? MissingPart::dwarf : sources.missing,
                               switches.strict, options, report);

    merge::Options merge = merge_options(file, options, switches);
    if (merge.features.has(Feature::distilled_base) && merge.base.empty())
        return fail({}, "feature distilled_base needs --btf_base");
    merge.inputs = sources.inputs;
    merge.image = sources.image;
    merge.gathered = std::move(sources.gathered);
    if (!is_relocatable && !from_dwarf)
        merge.more_inputs =
            [&](std::span<const std::string_view> covered) -> Result<std::vector<std::string>> {
            auto encoded = TRY(encode_uncovered(file, covered, options, report));
            if (!encoded)
                return std::vector<std::string>();
            sources.scratch.push_back(encoded);
            report.notes.push_back(dwarf_note);
            return std::vector<std::string>{encoded->path()};
        };
    const bool fill_ids = is_relocatable && switches.fill_ids && options.detached.empty();
    std::vector<std::byte> before;
    if (fill_ids)
        before = TRY(read_file(file));
    merge::Report merged;
    Result<void> done = merge::merge(merge, merged);
    report.warnings.insert(report.warnings.end(), merged.warnings.begin(), merged.warnings.end());
    report.notes.insert(report.notes.end(), merged.notes.begin(), merged.notes.end());
    report.functions_left_out = std::move(merged.functions_left_out);
    show_originals(sources.scratch, done, report);
    if (done && !merged.why_nothing.empty())
        return end_without_types(file, switches.strict);
    if (done)
        done = finish(file, is_relocatable, fill_ids, before, options, report);
    report.written = done.has_value();
    return done;
}

} // namespace btflink::kbuild
