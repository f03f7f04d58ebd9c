// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A tree has the entries of one unit or of several in the order of their offsets, and with
// split DWARF also the entries of all type units that they refer to.
//
// Method. Units without type units are read into one tree, one after the other. Otherwise each unit
// and each referenced type unit is read into its own tree, until no new ones are found; then the
// trees are joined. Entries that stand for types are not in the trees, so references to them are
// replaced by references to the types.
//
// Invariant. Trees are joined in the order of their units' offsets, so the order of reading does
// not matter.
#include "emit/dwarf/fast/die_reader.h"
#include "emit/dwarf/languages.h"

#include <algorithm>
#include <map>

namespace btflink::emit
{

namespace
{

using Units = std::span<const Unit *const>;

/// The unit with its abbreviations. Most units of an image do not keep their abbreviations, but
/// successive units often share a table.
Result<Unit> with_abbrevs(Unit unit, const Unit &before)
{
    if (unit.abbrevs)
        return unit;
    if (unit.file == before.file && unit.abbrev_offset == before.abbrev_offset &&
        unit.widths.version == before.widths.version && unit.widths.offset == before.widths.offset)
        unit.abbrevs = before.abbrevs;
    if (!unit.abbrevs) {
        auto table = TRY(AbbrevTable::parse(*unit.file, unit.abbrev_offset, unit.widths));
        unit.abbrevs = std::make_shared<const AbbrevTable>(std::move(table));
    }
    return unit;
}

/// Sorts units of one file by offset and drops duplicates. In a .dwp file units may be in any
/// order, and several skeletons may belong to one unit.
Result<std::vector<const Unit *>> in_order(Units units)
{
    std::vector<const Unit *> sorted(units.begin(), units.end());
    std::ranges::sort(sorted, {}, &Unit::offset);
    for (const Unit *unit : sorted)
        if (unit->file != sorted.front()->file)
            return fail(unit->file->where().in(".debug_info").at(unit->offset),
                        "units of several files cannot be read as one");
    auto same = [](const Unit *a, const Unit *b) { return a->offset == b->offset; };
    sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
    return sorted;
}

/// The index of a damaged .dwp file may place a unit inside another one.
Result<void> check_apart(const Unit &unit, uint64_t end_before)
{
    if (unit.offset < end_before)
        return fail(unit.file->where().in(".debug_info").at(unit.offset),
                    strf("a unit begins here, inside the unit that ends at 0x%llx",
                         static_cast<unsigned long long>(end_before)));
    return {};
}

Result<DieTree> read_as_one(Units units, Skips &skips)
{
    DieTree tree;
    uint64_t bytes = 0;
    for (const Unit *unit : units)
        bytes += unit->end - unit->offset;
    // In compilers' output a kept entry takes at least 11 bytes. The limit is for units of
    // gigabytes.
    const uint64_t expected = std::min<uint64_t>(bytes / 10, 1 << 24);
    tree.types.reserve(expected / 2);
    tree.dies.reserve(expected);
    tree.dies.emplace_back();
    Unit before;
    TypeReferences none;
    for (const Unit *unit : units) {
        TRY(check_apart(*unit, before.end));
        auto mine = TRY(with_abbrevs(*unit, before));
        TRY(read_entries(mine, tree, none, skips));
        before = std::move(mine);
    }
    return tree;
}

/// Reads units with the type units that they need.
class TreeReader
{
public:
    explicit TreeReader(Skips &skips) : skips_(skips) {}

    Result<DieTree> run(Units units)
    {
        for (const Unit *unit : units)
            TRY(add(*unit));
        while (!references_.met.empty()) {
            const TypeUnit &next = *references_.met.back();
            references_.met.pop_back();
            if (parts_.contains(next.unit.offset))
                continue;
            Unit unit = next.unit;
            unit.types = units.front()->types;
            TRY(add(unit));
            parts_.at(unit.offset).tree.drop_specified();
        }
        uint64_t end_before = 0;
        for (const auto &[offset, part] : parts_) {
            TRY(check_apart(part.unit, end_before));
            end_before = part.unit.end;
        }
        return joined();
    }

private:
    struct Part {
        Unit unit;
        DieTree tree;
    };

    Result<void> add(const Unit &unit)
    {
        auto mine = TRY(with_abbrevs(unit, before_));
        Part &part = parts_[unit.offset];
        part.tree.dies.emplace_back();
        TRY(read_entries(mine, part.tree, references_, skips_));
        before_ = std::move(mine);
        part.unit = unit;
        return {};
    }

    DieTree joined()
    {
        DieTree tree = std::move(parts_.begin()->second.tree);
        parts_.erase(parts_.begin());
        for (const auto &[offset, part] : parts_)
            tree.append(part.tree);
        for (DieIndex i = 1; i < tree.dies.size() && !references_.stand_ins.empty(); ++i) {
            Die &d = tree.dies[i];
            for (uint32_t *to : {&d.type, &d.origin, &d.specification, &d.annotation})
                if (auto found = references_.stand_ins.find(*to);
                    found != references_.stand_ins.end())
                    *to = found->second;
        }
        return tree;
    }

    Skips &skips_;
    Unit before_;
    TypeReferences references_;
    std::map<uint64_t, Part> parts_; // by the unit's offset
};

} // namespace

Result<DieTree> read_units(Units units, Skips &skips)
{
    auto sorted = TRY(in_order(units));
    const bool has_types = sorted.front()->types && !sorted.front()->types->empty();
    auto tree = has_types ? TreeReader(skips).run(sorted) : read_as_one(sorted, skips);
    if (!tree)
        return tree;
    tree->source = units.front()->name;
    tree->clang = units.front()->clang;
    tree->c_names =
        std::ranges::all_of(units, [](const Unit *unit) { return has_c_names(unit->language); });
    for (const Unit *unit : sorted)
        tree->languages.push_back(
            {static_cast<uint32_t>(unit->offset), language_name(unit->language)});
    tree->address_size = units.front()->widths.address;
    tree->index();
    return tree;
}

} // namespace btflink::emit
