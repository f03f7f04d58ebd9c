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

namespace btflink::emit
{

namespace
{

/// Units that are encoded together.
using Group = std::span<const uint32_t>;

/// Each unit by itself, unless link-time optimisation left units that refer to each other: then all
/// are one, or with split DWARF those of each file. The kernel's ELF note says so, or the forms
/// that the units use.
std::vector<Group> group_units(const DwarfFile &file, const DwarfReader &reader,
                               const std::vector<uint32_t> &units)
{
    bool together = file.lto_note() || std::ranges::any_of(units, [&](uint32_t i) {
                        return reader.units()[i].reads_foreign_units;
                    });
    std::vector<Group> groups;
    for (const uint32_t &unit : units) {
        const bool joins = together && !groups.empty() &&
                           reader.units()[groups.back().front()].file == reader.units()[unit].file;
        if (joins)
            groups.back() = {groups.back().data(), groups.back().size() + 1};
        else
            groups.push_back({&unit, 1});
    }
    return groups;
}

/// The unit without what would be its contribution, which somebody else has taken.
Result<UnitObject> hand_over(UnitObject unit, uint32_t number, const EmitOptions &options)
{
    if (unit.open)
        TRY(options.take(number, std::move(*unit.open)));
    unit.open = nullptr;
    return unit;
}

/// A string table for each thread that wants one at a time.
class StringTables
{
public:
    explicit StringTables(Bytes section)
        : section_(reinterpret_cast<const char *>(section.data()), section.size())
    {
    }
    StringTable &take()
    {
        if (StringTable *table = take_free())
            return *table;
        auto made = std::make_unique<StringTable>(section_); // takes long: others need not wait
        std::lock_guard hold(lock_);
        return *tables_.emplace_back(std::move(made));
    }
    void put_back(StringTable &table)
    {
        std::lock_guard hold(lock_);
        free_.push_back(&table);
    }

private:
    StringTable *take_free()
    {
        std::lock_guard hold(lock_);
        if (free_.empty())
            return nullptr;
        StringTable *table = free_.back();
        free_.pop_back();
        return table;
    }

    const std::string_view section_;
    std::mutex lock_;
    std::vector<std::unique_ptr<StringTable>> tables_;
    std::vector<StringTable *> free_;
};

/// Give back what was mapped of a linked file to read `group`. Sections whose parts are read in the
/// order of units, too, but are not known by unit, go now and then.
void release_read(const DwarfFile &file, const DwarfReader &reader, Group group)
{
    constexpr uint32_t now_and_then = 32;
    for (uint32_t unit : group) {
        release_pages(reader.units()[unit].entries);
        if (unit % now_and_then == 0)
            for (const DebugSection *section : {&file.abbrev, &file.loc, &file.loclists})
                release_pages(section->data);
    }
}

/// Encode all groups; the results are in the groups' order whoever made them.
Result<std::vector<UnitObject>> encode_groups(const DwarfFile &file, const DwarfReader &reader,
                                              const std::vector<Group> &groups,
                                              const EmitOptions &options)
{
    std::vector<Result<UnitObject>> results(groups.size());
    StringTables strings(file.str.data);
    parallel_for(groups.size(), options.image ? options.threads : 1, [&](size_t i) {
        if (options.take) {
            UnitOptions unit = options.unit;
            unit.strings = &strings.take();
            results[i] = encode_unit(file, reader, groups[i], unit);
            if (results[i])
                results[i] = hand_over(std::move(*results[i]), static_cast<uint32_t>(i), options);
            strings.put_back(*unit.strings);
        } else {
            results[i] = encode_unit(file, reader, groups[i], options.unit);
        }
        release_read(file, reader, groups[i]);
    });

    std::vector<UnitObject> objects;
    for (Result<UnitObject> &result : results) {
        auto unit = TRY(std::move(result));
        objects.push_back(std::move(unit));
    }
    return objects;
}

/// By hand, as g++ 14 warns of an overflow inside vector::insert (GCC PR107852).
void append(std::vector<std::byte> &out, Bytes more)
{
    const size_t end = out.size();
    out.resize(end + more.size());
    std::copy(more.begin(), more.end(), out.data() + end);
}

/// Concatenate contributions and pools, as a linker would: those to be kept, then the units'.
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

/// One unit: the blob alone, for any reader. Several: with their link trailers, for btf-merge,
/// which must tell them apart. None: nothing.
std::vector<std::byte> detached_btf(const std::vector<UnitObject> &units,
                                    const EmitOptions &options)
{
    std::vector<const UnitObject *> full;
    for (const UnitObject &unit : units)
        if (!unit.contribution.empty())
            full.push_back(&unit);
    std::vector<std::byte> plain;
    for (const UnitObject *unit : full)
        append(plain, unit->contribution);
    if (full.size() == 1 && !options.image)
        plain.resize(full[0]->blob_size);
    return plain;
}

Result<EmitReport> write(const std::string &path, const DwarfFile &file, Bytes before,
                         ExistingBtf kept, std::vector<UnitObject> units,
                         const EmitOptions &options, EmitReport report)
{
    StepClock clock(report.times);
    clock.begin(Step::write);
    TRY(check_mapped_files());
    if (options.take) {
        clock.end();
        return report;
    }
    if (!options.detached.empty()) {
        if (!options.dry_run)
            TRY(write_file(options.detached, detached_btf(units, options)));
        clock.end();
        return report;
    }
    auto change = TRY(plan_object_btf(
        before, file.arch(), join(file, std::move(kept), std::move(units), options), file.where()));
    if (options.output.empty() && !change.changes(before))
        report.outcome = report.btf_bytes ? EmitReport::Outcome::unchanged : report.outcome;
    else if (!options.dry_run)
        TRY(options.output.empty() ? update_file(path, before, change)
                                   : write_file(options.output, change.whole(before)));
    clock.end();
    return report;
}

/// The units to encode.
std::vector<uint32_t> choose_units(const DwarfReader &reader, const EmitOptions &options,
                                   const SourceCounts &covered, Skips &skips)
{
    const std::vector<UnitHead> &all = reader.units();
    auto source = [](const UnitHead &unit) { return std::string_view(unit.name ? unit.name : ""); };
    SourceCounts there;
    if (!covered.empty())
        for (const UnitHead &unit : all)
            ++there[std::string(source(unit))];
    std::vector<uint32_t> chosen;
    for (uint32_t i = 0; i < all.size(); ++i) {
        const UnitHead &unit = all[i];
        auto have = covered.find(source(unit));
        if (have != covered.end() && have->second >= there.at(std::string(source(unit))))
            ++skips[Skip::covered];
        else if (!options.filter.takes_language(unit.language))
            ++skips[Skip::excluded_language];
        else if (!options.filter.takes_name(source(unit)))
            ++skips[Skip::excluded_name];
        else
            chosen.push_back(i);
    }
    return chosen;
}

/// DWARF that nothing was made of because it is of a kind that is not read must not be dropped.
Result<void> check_droppable(const DwarfFile &file, const Skips &skips)
{
    for (Skip unread : unread_units)
        if (skips.contains(unread))
            return fail(file.where().in(".debug_info"),
                        std::string("has a ") + skip_word(unread) +
                            ", which is not read; the DWARF is not dropped");
    return {};
}

/// Of a file without DWARF.
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

/// `given`, or what the object BTF says that the file has.
UnitOptions unit_options(const DwarfFile &file, const EmitOptions &given)
{
    UnitOptions options = given.unit;
    if (!given.keep_settings || !file.relocatable())
        return options;
    auto found = read_existing_btf(file.image(), file.arch());
    if (!found || !found->features) // if it cannot be read, it is replaced all the same
        return options;
    options.features = *found->features;
    options.address_pool = found->has_pool;
    return options;
}

/// Encode the chosen units of `file`; the sums go into `report`.
Result<std::vector<UnitObject>> encode_dwarf(const DwarfFile &file, const EmitOptions &options,
                                             const SourceCounts &covered, EmitReport &report)
{
    StepClock clock(report.times);
    clock.begin(Step::units);
    auto opened = TRY(open_reader(file, options.reader, options.debug_dir, report.skips));
    const DwarfReader &reader = *opened.reader;
    report.reader = opened.name;
    report.reader_why = opened.why;
    const std::vector<uint32_t> units = choose_units(reader, options, covered, report.skips);
    report.units = units.size();
    if (options.strip_dwarf)
        TRY(check_droppable(file, report.skips));
    clock.end();
    release_pages(file.info.data); // each unit's head was looked at
    // From here on the units are independent of each other.
    auto objects = encode_groups(file, reader, group_units(file, reader, units), options);
    if (objects)
        for (const UnitObject &unit : *objects)
            add_up(report, unit);
    return objects;
}

/// A linked file may have been stripped of its DWARF, which is then in another one.
Result<DebugFile> open_debug_file(const DwarfFile &file, const EmitOptions &options)
{
    if (file.has_dwarf() || file.relocatable())
        return DebugFile{};
    return find_separate(file.image(), options.debug_dir);
}

/// `report`: what is known about the run so far.
Result<EmitReport> emit_bytes(const std::string &path, Bytes before, EmitOptions options,
                              EmitReport report)
{
    report.input_bytes = before.size();

    StepClock clock(report.times);
    clock.begin(Step::sections);
    if (is_bitcode(before))
        return fail(Where{path},
                    "is bitcode, whose code and DWARF are made at the link; encode the "
                    "linked file with --image");
    auto opened = TRY(DwarfFile::open(before, Where{path}));
    const DwarfFile &file = *opened;
    if (!file.relocatable() && !options.image)
        return fail(Where{path}, "is a linked file; use --image to encode it");
    if (!file.relocatable() && options.unit.address_pool)
        return fail(Where{path}, "is a linked file; it has final addresses, not an address pool");
    options.unit = unit_options(file, options);

    ExistingBtf kept;
    SourceCounts covered = options.covered;
    if (options.complete && file.relocatable()) {
        auto found = TRY(read_existing_btf(file.image(), file.arch()));
        kept = std::move(found);
        covered = kept.sources;
    }
    auto debug_file = TRY(open_debug_file(file, options));
    clock.end();
    const DwarfFile &dwarf = debug_file.file ? *debug_file.file : file;
    if (debug_file.file)
        report.debug_file = dwarf.where().file;

    std::vector<UnitObject> units;
    if (dwarf.has_dwarf()) {
        auto encoded = TRY(encode_dwarf(dwarf, options, covered, report));
        units = std::move(encoded);
    }
    if (options.complete && report.btf_bytes == 0) {
        report.outcome = EmitReport::Outcome::unchanged;
        return report;
    }
    if (!dwarf.has_dwarf()) {
        report.outcome = EmitReport::Outcome::no_dwarf;
        look_at_code(file.image(), report);
        // No BTF of an earlier run must stay in the place of this one's.
        if (!options.dry_run && !options.detached.empty())
            TRY(write_file(options.detached, Bytes()));
        if (!options.dry_run && !options.output.empty())
            TRY(write_file(options.output, before));
        return report;
    }
    if (report.btf_bytes == 0) // still an earlier emit's BTF and, if so asked, DWARF are dropped
        report.outcome = EmitReport::Outcome::no_types;
    return write(path, file, before, std::move(kept), std::move(units), options, std::move(report));
}

} // namespace

Result<EmitReport> emit_file(const std::string &path, const EmitOptions &options)
{
    EmitReport report;
    StepClock clock(report.times);
    clock.begin(Step::read);
    if (!options.image) {
        auto input = FilePages::read(path);
        clock.end();
        if (!input)
            return fail(input.error());
        auto done = emit_bytes(path, input->bytes(), options, std::move(report));
        // Half of what somebody else wrote looks damaged.
        if (!done)
            TRY(check_as_before(path, input->bytes()));
        return done;
    }
    // Large, and most of it is not looked at.
    auto input = read_parts(path);
    clock.end();
    if (!input)
        return fail(input.error());
    return emit_bytes(path, input->bytes, options, std::move(report));
}

} // namespace btflink::emit
