// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The steps of btf-emit in order: open the file, choose units, encode them, write.
#include "emit/emit.h"

#include "common/io/file_io.h"
#include "common/io/trace.h"
#include "emit/dwarf/dwarf_file.h"
#include "emit/passes.h"

#include <elf.h>
#include <memory>
#include <sys/stat.h>

namespace btflink::emit
{

namespace
{

void add_up(EmitReport &report, const UnitObject &unit)
{
    for (const auto &[reason, count] : unit.skips)
        report.skips[reason] += count;
    report.rejected.insert(report.rejected.end(), unit.rejected.begin(), unit.rejected.end());
    report.left_out.insert(report.left_out.end(), unit.left_out.begin(), unit.left_out.end());
    report.dies += unit.dies;
    report.types_before += unit.types_before;
    report.types += unit.types;
    report.functions += unit.functions;
    report.inline_only += unit.inline_only;
    report.variables += unit.variables;
    report.blob_bytes += unit.blob_size;
    report.btf_bytes += unit.size;
}

/// Error: the reader could not read all units, so the DWARF must not be dropped. Units that are
/// left out only because of the options do not count.
Result<void> check_droppable(const DwarfFile &file, const Skips &skips)
{
    for (Skip unread : unread_units)
        if (skips.contains(unread))
            return fail(file.where().in(".debug_info"), "a unit is not read (" + skip_word(unread) +
                                                            "), so the DWARF is not dropped");
    return {};
}

/// For a file without DWARF: records whether it has code without BTF, and whether it has code or
/// DWARF that is made at the link.
void look_at_code(const ElfImage &image, EmitReport &report)
{
    bool has_btf = false; // from the gcc plugin, or from DWARF that has been dropped
    for (const ElfSection &s : image.sections) {
        has_btf |= s.name == ".BTF";
        report.has_code |= (s.head.sh_flags & SHF_EXECINSTR) && s.head.sh_size != 0;
        report.has_lto_code |= s.name.starts_with(".gnu.lto_");
        report.has_lto_dwarf |= s.name.starts_with(".gnu.debuglto_");
    }
    report.has_code &= !has_btf;
}

/// Returns `given.unit`, with no_dwarf set if `given.strip_dwarf` is set. With
/// `given.keep_settings`, the features and the address pool setting are those of the file's object
/// BTF, if there is any.
UnitOptions unit_options(const DwarfFile &file, const EmitOptions &given)
{
    UnitOptions options = given.unit;
    options.no_dwarf = given.strip_dwarf;
    if (!given.keep_settings || !file.relocatable())
        return options;
    auto found = read_existing_btf(file.image(), file.arch());
    if (!found || !found->features) // the file has no object BTF that can be read
        return options;
    options.features = *found->features;
    options.address_pool = found->has_pool;
    return options;
}

/// Chooses units of `file`, encodes them, and adds their counts to `report`.
Result<std::vector<UnitObject>> encode_dwarf(const DwarfFile &file, const EmitOptions &options,
                                             const SourceCounts &covered, EmitReport &report)
{
    trace::Phase phase("units");
    const ChosenReader opened =
        TRY(open_reader(file, options.reader, options.debug_dir, report.skips));
    DwarfReader &reader = *opened.reader;
    report.reader = opened.name;
    report.reader_why = opened.why;
    const std::vector<uint32_t> units = choose_units(reader, options, covered, report.skips);
    reader.choose(units);
    report.units = units.size();
    if (options.strip_dwarf)
        TRY(check_droppable(file, report.skips));
    phase.end();
    // From here on, groups of units are independent of each other.
    auto objects = encode_groups(file, reader, group_units(file, reader, units), options);
    if (objects)
        for (const UnitObject &unit : *objects)
            add_up(report, unit);
    return objects;
}

/// Opens the file to encode. Errors: those of DwarfFile::open(); bitcode; a linked file, if
/// options.image is not set, or if an address pool is requested.
Result<std::unique_ptr<DwarfFile>> open_input(const std::string &path, Bytes bytes,
                                              const EmitOptions &options)
{
    const Where where{path};
    if (is_bitcode(bytes))
        return fail(where, "is bitcode, whose code and DWARF are made at the link; encode the "
                           "linked file with --image");
    auto file = TRY(DwarfFile::open(bytes, where));
    if (!file->relocatable() && !options.image)
        return fail(where, "is a linked file; use --image to encode it");
    if (!file->relocatable() && options.unit.address_pool)
        return fail(where, "is a linked file; it has final addresses, not an address pool");
    return file;
}

/// Finds the separate file with the DWARF of `file`, if `file` is linked and has no DWARF itself.
/// DebugFile::file is nullptr if no separate file is needed, or none is found.
Result<DebugFile> open_debug_file(const DwarfFile &file, const EmitOptions &options)
{
    if (file.has_dwarf() || file.relocatable())
        return DebugFile{};
    DebugFile found = TRY(find_separate(file.image(), options.debug_dir));
    if (found.file)
        found.file->program = file.where().file;
    return found;
}

EmitReport::Outcome outcome_of(const EmitOptions &options, const EmitReport &report, bool has_dwarf)
{
    if (report.btf_bytes)
        return EmitReport::Outcome::written;
    if (options.add_missing_units)
        return EmitReport::Outcome::unchanged;
    return has_dwarf ? EmitReport::Outcome::no_types : EmitReport::Outcome::no_dwarf;
}

/// Encodes the file at `path`, which has the bytes `before`, and writes the result.
Result<EmitReport> emit_bytes(const std::string &path, Bytes before, EmitOptions options)
{
    EmitReport report;
    report.input_bytes = before.size();
    trace::Phase sections("sections");
    const std::unique_ptr<DwarfFile> file = TRY(open_input(path, before, options));
    options.unit = unit_options(*file, options);
    ExistingBtf kept;
    const bool keeps = options.add_missing_units && file->relocatable();
    if (keeps)
        kept = TRY(read_existing_btf(file->image(), file->arch()));
    const DebugFile debug = TRY(open_debug_file(*file, options));
    sections.end();

    const DwarfFile &dwarf = debug.file ? *debug.file : *file;
    if (debug.file)
        report.debug_file = dwarf.where().file;
    std::vector<UnitObject> units;
    if (dwarf.has_dwarf())
        units = TRY(encode_dwarf(dwarf, options, keeps ? kept.sources : options.covered, report));
    TRY(check_mapped_files());

    report.outcome = outcome_of(options, report, dwarf.has_dwarf());
    switch (report.outcome) {
    case EmitReport::Outcome::unchanged:
        break;
    case EmitReport::Outcome::no_dwarf:
        look_at_code(file->image(), report);
        TRY(write_without_btf(*file, options));
        break;
    case EmitReport::Outcome::no_types: // usually drops old object BTF and, if requested, DWARF
    case EmitReport::Outcome::written:
        trace::Phase phase("write");
        TRY(write_result(path, *file, std::move(kept), std::move(units), options, report));
        break;
    }
    return report;
}

/// A warning about units that were not read, or about references to them: "FILE: 1 REASON is not
/// read, so EFFECT: HINT".
struct UnreadWarning {
    Skip reason;
    const char *effect;
    const char *hint;
};
constexpr UnreadWarning unread_warnings[] = {
    {Skip::clang_module, "types of the module are missing", "compile without -gmodules"},
    {Skip::split_dwarf_unit, "types, functions and variables are missing",
     "no .dwo or .dwp file has them"},
    {Skip::type_unit, "types are lost", "use --reader=auto"},
    {Skip::type_unit_reference, "types are void", "type units are missing"},
    {Skip::partial_unit, "types are void", "use --reader=auto"},
    {Skip::unknown_unit, "types, functions and variables are missing",
     "a unit type, or the tag of a unit's first entry, is unknown"},
};

/// "1 type-unit is" or "3 type-units are".
std::string counted(Skip reason, uint64_t count)
{
    return strf("%llu %s%s", ull(count), skip_word(reason).c_str(), count == 1 ? " is" : "s are");
}

} // namespace

Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options)
{
    trace::Phase phase("read");
    // Opening a pipe may block, and so may writing the result into it.
    struct stat status;
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return fail(Where{path}, "is not a regular file");
    if (options.image) { // an image is large, and most of it is never read
        const FileParts input = TRY(read_parts(path));
        phase.end();
        return emit_bytes(path, input.bytes, options);
    }
    const std::vector<std::byte> input = TRY(read_file(path));
    phase.end();
    auto done = emit_bytes(path, input, options);
    if (!done) // the file may look damaged only because it has changed: report the change
        TRY(check_as_before(path, input));
    return done;
}

std::vector<std::string> warnings(const std::string &path, const EmitReport &report, bool all)
{
    std::vector<std::string> out;
    for (const UnreadWarning &u : unread_warnings)
        if (auto found = report.skips.find(u.reason); found != report.skips.end())
            out.push_back(strf("%s: %s not read, so %s: %s", path.c_str(),
                               counted(u.reason, found->second).c_str(), u.effect, u.hint));
    const size_t count = report.left_out.size(), shown = all ? count : std::min<size_t>(count, 1);
    for (size_t i = 0; i < shown; ++i)
        out.push_back(report.left_out[i].str());
    if (shown < count)
        out.back() += strf(" (and %zu more)", count - shown);
    return out;
}

} // namespace btflink::emit
