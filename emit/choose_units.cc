// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Leaves out units that other inputs cover or that a filter excludes, and puts the rest into
// groups.
#include "emit/passes.h"

#include <algorithm>

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

/// Does link-time optimisation make units refer to each other? Shown by the kernel's ELF note, or
/// by the forms of the units' attributes.
bool are_entangled(const DwarfFile &file, const DwarfReader &reader,
                   const std::vector<uint32_t> &units)
{
    return file.lto_note() || std::ranges::any_of(units, [&](uint32_t i) {
               return reader.units()[i].refers_to_other_units;
           });
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

} // namespace btflink::emit
