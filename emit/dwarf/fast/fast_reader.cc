// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A tree has the entries of one unit or of several in the order of their offsets, and with
// split DWARF also the entries of all type units that they refer to.
//
// Method. Units that use no type units are read into one tree, one after the other. Otherwise each
// unit and each type unit that it reaches is read into its own tree, and then the trees are joined.
// Entries that stand for a type in a type unit are not in the trees, so references to these entries
// are replaced by references to the type.
//
// Invariant. Trees are joined in the order of their units' offsets, so the order of reading does
// not matter.
#include "emit/dwarf/fast/unit.h"

#include <algorithm>
#include <map>

namespace btflink::emit
{

namespace
{

using Units = std::vector<const Unit *>;

/// Sorts units of one file by offset and drops duplicates. In a .dwp file units may be in any
/// order, and several skeletons may belong to one unit.
Result<Units> in_order(Units sorted)
{
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
Result<void> check_overlap(const Unit &unit, uint64_t end_before)
{
    if (unit.offset < end_before)
        return fail(
            unit.file->where().in(".debug_info").at(unit.offset),
            strf("a unit begins here, inside the unit that ends at 0x%llx", ull(end_before)));
    return {};
}

Result<DieTree> read_as_one(const Units &units, Skips &skips)
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
    Abbrevs abbrevs;
    TypeReferences none;
    uint64_t end_before = 0;
    for (const Unit *listed : units) {
        Unit unit = *listed;
        TRY(check_overlap(unit, end_before));
        TRY(abbrevs.attach(unit));
        TRY(read_entries(unit, tree, none, skips));
        end_before = unit.end;
    }
    return tree;
}

/// Reads units with the type units that they need.
class TypeUnitJoiner
{
public:
    explicit TypeUnitJoiner(Skips &skips) : skips_(skips) {}

    Result<DieTree> run(const Units &units)
    {
        for (const Unit *unit : units)
            TRY(add(*unit));
        while (!references_.type_units.empty()) {
            const TypeUnit &next = *references_.type_units.back();
            references_.type_units.pop_back();
            if (parts_.contains(next.unit.offset))
                continue;
            Unit unit = next.unit;
            unit.types = units.front()->types;
            TRY(add(unit));
            parts_.at(unit.offset).tree.drop_specified();
        }
        uint64_t end_before = 0;
        for (const auto &[offset, part] : parts_) {
            TRY(check_overlap(part.unit, end_before));
            end_before = part.unit.end;
        }
        return joined();
    }

private:
    struct ReadUnit {
        Unit unit;
        DieTree tree;
    };

    Result<void> add(Unit unit)
    {
        TRY(abbrevs_.attach(unit));
        ReadUnit &part = parts_[unit.offset];
        part.tree.dies.emplace_back();
        TRY(read_entries(unit, part.tree, references_, skips_));
        part.unit = std::move(unit);
        return {};
    }

    DieTree joined()
    {
        DieTree tree = std::move(parts_.begin()->second.tree);
        parts_.erase(parts_.begin());
        for (const auto &[offset, part] : parts_)
            tree.append(part.tree);
        for (DieIndex i = 1; i < tree.dies.size() && !references_.signatures.empty(); ++i) {
            Die &d = tree.dies[i];
            for (uint32_t *to : {&d.type, &d.origin, &d.specification, &d.annotation})
                if (auto found = references_.signatures.find(*to);
                    found != references_.signatures.end())
                    *to = found->second;
        }
        return tree;
    }

    Skips &skips_;
    Abbrevs abbrevs_;
    TypeReferences references_;
    std::map<uint64_t, ReadUnit> parts_; // by the unit's offset
};

class FastReader : public DwarfReader
{
public:
    explicit FastReader(const DwarfFile &file) : DwarfReader(file.arch()), splits_(file) {}

    Result<void> list(const DwarfFile &file, Skips &skips)
    {
        units_ = TRY(list_units(file, splits_, skips));
        heads_.assign(units_.begin(), units_.end());
        return {};
    }

    Result<DieTree> read_entries(std::span<const uint32_t> units, Skips &skips) const override
    {
        Units chosen;
        for (uint32_t i : units)
            chosen.push_back(&units_[i]);
        const Units sorted = TRY(in_order(std::move(chosen)));
        const bool has_types = sorted.front()->types && !sorted.front()->types->empty();
        return has_types ? TypeUnitJoiner(skips).run(sorted) : read_as_one(sorted, skips);
    }

private:
    SplitFiles splits_;
    std::vector<Unit> units_;
};

} // namespace

Result<std::unique_ptr<DwarfReader>> open_fast_reader(const DwarfFile &file, Skips &skips)
{
    auto reader = std::make_unique<FastReader>(file);
    TRY(reader->list(file, skips));
    return reader;
}

} // namespace btflink::emit
