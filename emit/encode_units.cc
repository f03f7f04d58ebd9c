// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Encodes groups of units; those of an image on several threads.
#include "emit/passes.h"

#include "common/io/file_parts.h"
#include "common/io/parallel.h"

#include <memory>
#include <mutex>

namespace btflink::emit
{

namespace
{

/// String tables, each used by one thread at a time. A table keeps its strings from unit to unit.
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
        return std::make_unique<StringTable>(section_); // slow, so without the lock
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

/// Releases the pages of a mapped file that were read for `group`. The parts of .debug_abbrev and
/// of location lists that belong to a unit are unknown, so these sections are released as a whole,
/// but rarely.
void release_read(const DwarfFile &file, const DwarfReader &reader, UnitGroup group)
{
    constexpr uint32_t units_per_release = 32;
    for (uint32_t unit : group) {
        release_pages(reader.units()[unit].entries);
        if (unit % units_per_release == 0)
            for (const DebugSection *section : {&file.abbrev, &file.loc, &file.loclists})
                release_pages(section->data);
    }
}

/// Encodes group `number` and passes its BTF to `options.take`. Returns the rest.
Result<UnitObject> encode_and_take(const DwarfFile &file, const DwarfReader &reader,
                                   UnitGroup group, uint32_t number, const EmitOptions &options,
                                   StringTables &tables)
{
    auto strings = tables.take();
    UnitOptions unit_options = options.unit;
    unit_options.strings = strings.get();
    auto unit = encode_units(file, reader, group, unit_options);
    if (unit && unit->open) {
        TRY(options.take(number, std::move(*unit->open)));
        unit->open = nullptr;
    }
    tables.put_back(std::move(strings));
    return unit;
}

} // namespace

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
    std::vector<Result<UnitObject>> results(groups.size());
    StringTables tables(file.str.data);
    parallel_for(groups.size(), options.image ? options.threads : 1, [&](size_t i) {
        results[i] = options.take ? encode_and_take(file, reader, groups[i],
                                                    static_cast<uint32_t>(i), options, tables)
                                  : encode_units(file, reader, groups[i], options.unit);
        release_read(file, reader, groups[i]);
    });

    std::vector<UnitObject> objects;
    for (Result<UnitObject> &result : results) {
        auto unit = TRY(std::move(result));
        objects.push_back(std::move(unit));
    }
    return objects;
}

} // namespace btflink::emit
