// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the units to encode: all except those whose BTF exists already (they are covered), and
// those that a filter excludes. Puts the chosen units into groups, and encodes each group. Several
// threads encode the groups of an image.
#include "emit/passes.h"

#include "common/io/file_io.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <atomic>

namespace btflink::emit
{

namespace
{

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

/// May link-time optimisation have made units refer to each other? True if the kernel's ELF note
/// says so, or if the reader found that one of `units` may refer to other units.
bool are_entangled(const DwarfFile &file, const DwarfReader &reader,
                   const std::vector<uint32_t> &units)
{
    return file.lto_note() || std::ranges::any_of(units, [&](uint32_t i) {
               return reader.units()[i].refers_to_other_units;
           });
}

/// Releases mapped pages: those of the group's units in split DWARF and, with `all`, those of whole
/// sections of `file`. A page that another thread still needs is read again.
void release_read(const DwarfFile &file, const DwarfReader &reader, UnitGroup group, bool all)
{
    for (uint32_t unit : group)
        if (reader.units()[unit].file != &file) // split DWARF; libdw's units have no `entries`
            release_pages(reader.units()[unit].entries);
    if (all)
        for (const DebugSection *section : {&file.info, &file.abbrev, &file.loc, &file.loclists})
            release_pages(section->data);
}

/// Encodes group `number`. If options.take is set, passes the BTF to it, and returns everything
/// else.
Result<UnitObject> encode_group(const DwarfFile &file, const DwarfReader &reader, UnitGroup group,
                                size_t number, const UnitOptions &unit_options,
                                const EmitOptions &options)
{
    UnitObject unit = TRY(encode_units(file, reader, group, unit_options));
    if (unit.open) {
        TRY(options.take(static_cast<uint32_t>(number), std::move(*unit.open)));
        unit.open = nullptr;
    }
    return unit;
}

} // namespace

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

std::vector<UnitGroup> group_units(const DwarfFile &file, const DwarfReader &reader,
                                   const std::vector<uint32_t> &units)
{
    const bool together = are_entangled(file, reader, units);
    auto file_of = [&](uint32_t unit) { return reader.units()[unit].file; };
    std::vector<UnitGroup> groups;
    for (const uint32_t &unit : units) {
        if (together && !groups.empty() && file_of(groups.back().front()) == file_of(unit))
            groups.back() = {groups.back().data(), groups.back().size() + 1};
        else
            groups.push_back({&unit, 1});
    }
    return groups;
}

Result<UnitObject> encode_units(const DwarfFile &file, const DwarfReader &reader, UnitGroup units,
                                const UnitOptions &options)
{
    Skips skips;
    const char *source = reader.units()[units.front()].name;
    trace::Phase phase("entries", source ? source : "");
    DieTree tree = TRY(reader.read(units, skips));
    phase.end();
    return encode_tree(file.unit_file(), std::move(tree), options, std::move(skips));
}

Result<std::vector<UnitObject>> encode_groups(const DwarfFile &file, const DwarfReader &reader,
                                              const std::vector<UnitGroup> &groups,
                                              const EmitOptions &options)
{
    const std::string_view names = as_text(file.str.data);
    const size_t threads = std::min<size_t>(options.image ? options.threads : 1, groups.size());
    std::vector<Result<UnitObject>> results(groups.size());
    std::atomic<size_t> next = 0;
    parallel_for(threads, static_cast<unsigned>(threads), [&](size_t) {
        UnitOptions unit_options = options.unit;
        for (size_t i = next++; i < groups.size(); i = next++) {
            if (options.take && !unit_options.strings) // one per thread, kept from unit to unit
                unit_options.strings = std::make_shared<StringTable>(names);
            results[i] = encode_group(file, reader, groups[i], i, unit_options, options);
            // Pages of `file` are released only at every 32nd group, unless there are few groups: a
            // release interrupts the other threads.
            release_read(file, reader, groups[i], i % 32 == 0 || groups.size() < 32);
        }
    });

    std::vector<UnitObject> objects;
    for (Result<UnitObject> &result : results) {
        auto unit = TRY(std::move(result));
        objects.push_back(std::move(unit));
    }
    return objects;
}

} // namespace btflink::emit
