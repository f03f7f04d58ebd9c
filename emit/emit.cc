// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The steps of an emit in order: open, choose units, encode them, write.
#include "emit/emit.h"
#include "common/io/file_change.h"
#include "common/io/file_io.h"
#include "common/io/file_parts.h"
#include "common/io/parallel.h"
#include "common/object_btf/address_pool.h"
#include "emit/dwarf/debug_files.h"
#include "emit/encode_unit.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <memory>
#include <mutex>
#include <sys/stat.h>

namespace btflink::emit
{

namespace
{

/// Indices of units that are encoded together.
using Group = std::span<const uint32_t>;

/// Does link-time optimisation make units refer to each other? The kernel's ELF note or the forms
/// of the units' attributes tell.
bool are_entangled(const DwarfFile &file, const DwarfReader &reader,
                   const std::vector<uint32_t> &units)
{
    return file.lto_note() || std::ranges::any_of(units, [&](uint32_t i) {
               return reader.units()[i].reads_foreign_units;
           });
}

/// A group per unit, or, if they are entangled, one for all units (of each file, with split DWARF).
std::vector<Group> group_units(const DwarfFile &file, const DwarfReader &reader,
                               const std::vector<uint32_t> &units)
{
    const bool together = are_entangled(file, reader, units);
    auto file_of = [&](uint32_t unit) { return reader.units()[unit].file; };
    std::vector<Group> groups;
    for (const uint32_t &unit : units) {
        if (together && !groups.empty() && file_of(groups.back().front()) == file_of(unit))
            groups.back() = {groups.back().data(), groups.back().size() + 1};
        else
            groups.push_back({&unit, 1});
    }
    return groups;
}

/// String tables, each used by one thread at a time. A table remembers strings from unit to unit.
class StringTables
{
public:
    explicit StringTables(Bytes section)
        : section_(reinterpret_cast<const char *>(section.data()), section.size())
    {
    }
    std::unique_ptr<StringTable> take()
    {
        {
            std::lock_guard hold(lock_);
            if (!free_.empty()) {
                auto table = std::move(free_.back());
                free_.pop_back();
                return table;
            }
        }
        return std::make_unique<StringTable>(section_); // slow, so not under the lock
    }
    void put_back(std::unique_ptr<StringTable> table)
    {
        std::lock_guard hold(lock_);
        free_.push_back(std::move(table));
    }

private:
    const std::string_view section_;
    std::mutex lock_;
    std::vector<std::unique_ptr<StringTable>> free_;
};

/// Gives back the pages of a mapped file that were read for `group`. Parts of .debug_abbrev and of
/// location lists are not known by unit, so these sections are given back as a whole, but rarely.
void release_read(const DwarfFile &file, const DwarfReader &reader, Group group)
{
    constexpr uint32_t units_per_release = 32;
    for (uint32_t unit : group) {
        release_pages(reader.units()[unit].entries);
        if (unit % units_per_release == 0)
            for (const DebugSection *section : {&file.abbrev, &file.loc, &file.loclists})
                release_pages(section->data);
    }
}

/// Encodes group `number` and passes its BTF to `options.take`. The result is the rest.
Result<UnitObject> encode_and_take(const DwarfFile &file, const DwarfReader &reader, Group group,
                                   uint32_t number, const EmitOptions &options,
                                   StringTables &tables)
{
    auto strings = tables.take();
    UnitOptions unit_options = options.unit;
    unit_options.strings = strings.get();
    auto unit = encode_unit(file, reader, group, unit_options);
    if (unit && unit->open) {
        TRY(options.take(number, std::move(*unit->open)));
        unit->open = nullptr;
    }
    tables.put_back(std::move(strings));
    return unit;
}

/// Encodes all groups. The results are in the order of the groups.
Result<std::vector<UnitObject>> encode_groups(const DwarfFile &file, const DwarfReader &reader,
                                              const std::vector<Group> &groups,
                                              const EmitOptions &options)
{
    std::vector<Result<UnitObject>> results(groups.size());
    StringTables tables(file.str.data);
    parallel_for(groups.size(), options.image ? options.threads : 1, [&](size_t i) {
        results[i] = options.take ? encode_and_take(file, reader, groups[i],
                                                    static_cast<uint32_t>(i), options, tables)
                                  : encode_unit(file, reader, groups[i], options.unit);
        release_read(file, reader, groups[i]);
    });

    std::vector<UnitObject> objects;
    for (Result<UnitObject> &result : results) {
        auto unit = TRY(std::move(result));
        objects.push_back(std::move(unit));
    }
    return objects;
}

/// Not vector::insert(), for which g++ 14 warns of an overflow (GCC PR107852).
void append(std::vector<std::byte> &out, Bytes more)
{
    const size_t end = out.size();
    out.resize(end + more.size());
    std::copy(more.begin(), more.end(), out.data() + end);
}

/// Concatenates contributions and pools as a linker would: kept ones first, then those of `units`.
ObjectBtf join(const DwarfFile &file, ExistingBtf kept, std::vector<UnitObject> units,
               const EmitOptions &options)
{
    ObjectBtf out{std::move(kept.btf), std::move(kept.btf_relocs), std::move(kept.pool),
                  std::move(kept.pool_relocs)};
    out.section_type = options.section_type;
    out.exclude = options.exclude_flag;
    out.strip_dwarf = options.strip_dwarf || options.leave_out_dwarf;
    for (UnitObject &unit : units) {
        uint64_t base = out.btf.size();
        if (base == 0)
            out.btf = std::move(unit.contribution);
        else
            append(out.btf, unit.contribution);
        for (NewReloc reloc : unit.btf_relocs) {
            reloc.offset += base;
            out.btf_relocs.push_back(reloc);
        }
        if (!unit.has_pool)
            continue;
        base = out.pool.size();
        std::vector<std::byte> pool =
            encode_pool(unit.object_id, unit.pool_entries, file.arch().address_size, file.order());
        append(out.pool, pool);
        for (NewReloc reloc : unit.pool_relocs) {
            reloc.offset += base;
            out.pool_relocs.push_back(reloc);
        }
    }
    return out;
}

void add_up(EmitReport &report, const UnitObject &unit)
{
    for (const auto &[reason, count] : unit.skips)
        report.skips[reason] += count;
    report.rejected.insert(report.rejected.end(), unit.rejected.begin(), unit.rejected.end());
    report.left_out.insert(report.left_out.end(), unit.left_out.begin(), unit.left_out.end());
    report.times.add(unit.times);
    report.dies += unit.dies;
    report.types_before += unit.types_before;
    report.types += unit.types;
    report.functions += unit.functions;
    report.inline_only += unit.inline_only;
    report.variables += unit.variables;
    report.blob_bytes += unit.blob_size;
    report.btf_bytes += unit.size;
}

/// The contents of a detached file: of one unit the blob alone, for any reader of BTF; of several
/// units all contributions, which btf-merge tells apart by their link trailers.
std::vector<std::byte> detached_btf(const std::vector<UnitObject> &units,
                                    const EmitOptions &options)
{
    std::vector<std::byte> btf;
    std::vector<uint64_t> blob_sizes;
    for (const UnitObject &unit : units)
        if (!unit.contribution.empty()) {
            append(btf, unit.contribution);
            blob_sizes.push_back(unit.blob_size);
        }
    if (blob_sizes.size() == 1 && !options.image)
        btf.resize(blob_sizes.front());
    return btf;
}

/// Writes what was encoded to where `options` say.
Result<void> write_result(const std::string &path, const DwarfFile &file, ExistingBtf kept,
                          std::vector<UnitObject> units, const EmitOptions &options,
                          EmitReport &report)
{
    if (options.take)
        return {};
    if (!options.detached.empty())
        return options.dry_run ? Result<void>()
                               : write_file(options.detached, detached_btf(units, options));
    const Bytes before = file.image().file;
    const FileChange change = TRY(plan_object_btf(
        before, file.arch(), join(file, std::move(kept), std::move(units), options), file.where()));
    const bool in_place = options.output.empty();
    if (in_place && !change.changes(before)) {
        if (report.btf_bytes)
            report.outcome = EmitReport::Outcome::unchanged;
        return {};
    }
    if (options.dry_run)
        return {};
    return in_place ? update_file(path, before, change)
                    : write_file(options.output, change.whole(before));
}

/// A file without DWARF: an earlier run's output must not stay where this run's would be.
Result<void> write_without_btf(const DwarfFile &file, const EmitOptions &options)
{
    if (options.dry_run)
        return {};
    if (!options.detached.empty())
        TRY(write_file(options.detached, Bytes()));
    if (!options.output.empty())
        TRY(write_file(options.output, file.image().file));
    return {};
}

std::string_view source_of(const UnitHead &unit)
{
    return unit.name ? unit.name : "";
}

/// The number of units per source file.
SourceCounts count_sources(const std::vector<UnitHead> &units)
{
    SourceCounts counts;
    for (const UnitHead &unit : units)
        ++counts[std::string(source_of(unit))];
    return counts;
}

/// The indices of the units to encode.
std::vector<uint32_t> choose_units(const DwarfReader &reader, const EmitOptions &options,
                                   const SourceCounts &covered, Skips &skips)
{
    const std::vector<UnitHead> &all = reader.units();
    const SourceCounts counts = covered.empty() ? SourceCounts() : count_sources(all);
    std::vector<uint32_t> chosen;
    for (uint32_t i = 0; i < all.size(); ++i) {
        const UnitHead &unit = all[i];
        const auto have = covered.find(source_of(unit));
        if (have != covered.end() && have->second >= counts.find(source_of(unit))->second)
            ++skips[Skip::covered];
        else if (!options.filter.takes_language(unit.language))
            ++skips[Skip::excluded_language];
        else if (!options.filter.takes_name(source_of(unit)))
            ++skips[Skip::excluded_name];
        else
            chosen.push_back(i);
    }
    return chosen;
}

/// DWARF that was not read must not be dropped.
Result<void> check_droppable(const DwarfFile &file, const Skips &skips)
{
    for (Skip unread : unread_units)
        if (skips.contains(unread))
            return fail(file.where().in(".debug_info"),
                        std::string("has a ") + skip_word(unread) +
                            ", which is not read; the DWARF is not dropped");
    return {};
}

/// For a file without DWARF: reports which code has no BTF.
void look_at_code(const ElfImage &image, EmitReport &report)
{
    bool has_btf = false; // made before the DWARF was dropped
    for (const ElfSection &s : image.sections) {
        has_btf |= s.name == ".BTF";
        report.has_code |= (s.head.sh_flags & SHF_EXECINSTR) && s.head.sh_size != 0;
        report.has_lto_code |= s.name.starts_with(".gnu.lto_");
    }
    report.has_code &= !has_btf;
}

/// `given.unit`, with the settings of the object BTF that the file has, if these are to be kept.
UnitOptions unit_options(const DwarfFile &file, const EmitOptions &given)
{
    UnitOptions options = given.unit;
    if (!given.keep_settings || !file.relocatable())
        return options;
    auto found = read_existing_btf(file.image(), file.arch());
    if (!found || !found->features) // unreadable object BTF will be replaced
        return options;
    options.features = *found->features;
    options.address_pool = found->has_pool;
    return options;
}

/// Encodes the chosen units of `file` and adds them up in `report`.
Result<std::vector<UnitObject>> encode_dwarf(const DwarfFile &file, const EmitOptions &options,
                                             const SourceCounts &covered, EmitReport &report)
{
    StepClock clock(report.times);
    clock.begin(Step::units);
    const ChosenReader opened =
        TRY(open_reader(file, options.reader, options.debug_dir, report.skips));
    const DwarfReader &reader = *opened.reader;
    report.reader = opened.name;
    report.reader_why = opened.why;
    const std::vector<uint32_t> units = choose_units(reader, options, covered, report.skips);
    report.units = units.size();
    if (options.strip_dwarf)
        TRY(check_droppable(file, report.skips));
    clock.end();
    release_pages(file.info.data); // heads of units are all over it
    // From here on the units are independent of each other.
    auto objects = encode_groups(file, reader, group_units(file, reader, units), options);
    if (objects)
        for (const UnitObject &unit : *objects)
            add_up(report, unit);
    return objects;
}

/// The file to encode. Errors: files that need other options.
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

/// The separate file that has the DWARF of a linked file, if the latter has none.
Result<DebugFile> open_debug_file(const DwarfFile &file, const EmitOptions &options)
{
    if (file.has_dwarf() || file.relocatable())
        return DebugFile{};
    return find_separate(file.image(), options.debug_dir);
}

EmitReport::Outcome outcome_of(const EmitOptions &options, const EmitReport &report, bool has_dwarf)
{
    if (report.btf_bytes)
        return EmitReport::Outcome::written;
    if (options.complete)
        return EmitReport::Outcome::unchanged;
    return has_dwarf ? EmitReport::Outcome::no_types : EmitReport::Outcome::no_dwarf;
}

/// `report`: the run so far.
Result<EmitReport> emit_bytes(const std::string &path, Bytes before, EmitOptions options,
                              EmitReport report)
{
    report.input_bytes = before.size();
    StepClock clock(report.times);
    clock.begin(Step::sections);
    const std::unique_ptr<DwarfFile> file = TRY(open_input(path, before, options));
    options.unit = unit_options(*file, options);
    ExistingBtf kept;
    const bool keeps = options.complete && file->relocatable();
    if (keeps)
        kept = TRY(read_existing_btf(file->image(), file->arch()));
    const DebugFile debug = TRY(open_debug_file(*file, options));
    clock.end();

    const DwarfFile &dwarf = debug.file ? *debug.file : *file;
    if (debug.file)
        report.debug_file = dwarf.where().file;
    std::vector<UnitObject> units;
    if (dwarf.has_dwarf())
        units = TRY(encode_dwarf(dwarf, options, keeps ? kept.sources : options.covered, report));

    report.outcome = outcome_of(options, report, dwarf.has_dwarf());
    switch (report.outcome) {
    case EmitReport::Outcome::unchanged:
        break;
    case EmitReport::Outcome::no_dwarf:
        look_at_code(file->image(), report);
        TRY(write_without_btf(*file, options));
        break;
    case EmitReport::Outcome::no_types: // an earlier run's BTF and, if asked, DWARF are dropped
    case EmitReport::Outcome::written:
        clock.begin(Step::write);
        TRY(check_mapped_files());
        TRY(write_result(path, *file, std::move(kept), std::move(units), options, report));
        clock.end();
        break;
    }
    return report;
}

} // namespace

Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options)
{
    EmitReport report;
    StepClock clock(report.times);
    clock.begin(Step::read);
    if (options.image) { // large, and most of it is never read
        const FileParts input = TRY(read_parts(path));
        clock.end();
        return emit_bytes(path, input.bytes, options, std::move(report));
    }
    struct stat status;
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return fail(Where{path}, "is not a regular file"); // opening a pipe would wait for a writer
    const std::vector<std::byte> input = TRY(read_file(path));
    clock.end();
    auto done = emit_bytes(path, input, options, std::move(report));
    if (!done) // a file that is being written looks damaged
        TRY(check_as_before(path, input));
    return done;
}

} // namespace btflink::emit
