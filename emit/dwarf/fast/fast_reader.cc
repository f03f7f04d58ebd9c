// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The DWARF reader for what compilers write for kernels: reads units into trees.
//
// Problem. A tree has the entries of one unit or of several in the order of their offsets, and with
// split DWARF also the entries of all type units that these units reach.
//
// Method. Of the type units, only those of split DWARF are read. In a file without these, the units
// of a read() are read into one tree, one after the other. Otherwise each unit, and each type unit
// that it reaches, is read into a tree of its own, and then the trees are joined. The first chosen
// unit of a file and language is read with all type units of the file in the language, because a
// type unit may have a type to which nothing refers. Entries that stand for a type in a type unit
// are not in the trees, so references to these entries are replaced by references to the type.
//
// Invariant. Trees are joined in the order of their units' offsets, so the order of reading does
// not matter.
//
// Cost. Linear in the entries of a tree. A type unit is read once in each read() that needs it.
#include "emit/dwarf/fast/unit.h"

#include <algorithm>
#include <functional>
#include <map>

namespace btflink::emit
{

namespace
{

using Units = std::vector<const Unit *>;

/// Sorts units of one file by offset and drops duplicates. In a .dwp file units may be in any
/// order, and several skeletons may belong to one unit. Error: units of several files.
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

/// Is a type unit in this language read even if nothing refers to it?
using TakesLanguage = std::function<bool(uint16_t language)>;

class TreeReader
{
public:
    explicit TreeReader(Skips &skips) : skips_(skips) {}

    /// Reads `units`, which are in the order of their offsets, and the type units that they reach.
    /// If `takes` is set, also reads the type units of their file whose language `takes` accepts.
    Result<DieTree> run(const Units &units, const TakesLanguage &takes)
    {
        const TypeUnits *types = units.front()->types;
        const bool own_trees = types && !types->empty(); // see "Method"
        uint64_t bytes = 0;
        for (const Unit *unit : units)
            bytes += unit->end - unit->offset;
        // Compilers' units have at least 11 bytes per kept entry. The limit takes effect if `units`
        // have more than 160 MB.
        const uint64_t expected = std::min<uint64_t>(bytes / 10, 1 << 24);
        DieTree &first = trees_[units.front()->offset];
        first.types.reserve(expected / 2);
        first.dies.reserve(expected);
        for (const Unit *unit : units)
            TRY(add(*unit, own_trees ? trees_[unit->offset] : first));
        if (takes && types)
            TRY(want_types(*types, takes));
        while (!references_.type_units.empty()) {
            Unit unit = references_.type_units.back()->unit;
            references_.type_units.pop_back();
            if (ends_.contains(unit.offset))
                continue;
            unit.types = types;
            DieTree &tree = trees_[unit.offset];
            TRY(add(std::move(unit), tree));
            tree.drop_specified();
        }
        // The index of a damaged .dwp file may place a unit inside another one.
        uint64_t end_before = 0;
        for (const auto &[begin, end] : ends_) {
            if (begin < end_before)
                return fail(units.front()->file->where().in(".debug_info").at(begin),
                            strf("a unit begins here, inside the unit that ends at 0x%llx",
                                 ull(end_before)));
            end_before = end;
        }
        return joined();
    }

private:
    Result<void> want_types(const TypeUnits &types, const TakesLanguage &takes)
    {
        // Units with one abbreviation table are read one after the other, because `abbrevs_` keeps
        // only the last table.
        std::vector<const TypeUnit *> sorted;
        for (const auto &[signature, type] : types)
            sorted.push_back(&type);
        std::ranges::sort(sorted, {}, [](const TypeUnit *type) {
            return std::pair(type->unit.abbrev_offset, type->unit.offset);
        });
        for (const TypeUnit *type : sorted) {
            Unit unit = type->unit;
            TRY(read_language(unit, abbrevs_));
            if (takes(unit.language))
                references_.type_units.push_back(type);
        }
        return {};
    }

    Result<void> add(Unit unit, DieTree &tree)
    {
        ends_.emplace(unit.offset, unit.end);
        TRY(abbrevs_.attach(unit));
        if (tree.dies.empty())
            tree.dies.emplace_back();
        return read_entries(unit, tree, references_, skips_);
    }

    DieTree joined()
    {
        DieTree tree = std::move(trees_.begin()->second);
        trees_.erase(trees_.begin());
        for (const auto &[offset, part] : trees_)
            tree.append(part);
        if (references_.signatures.empty())
            return tree;
        for (Die &d : tree.dies)
            for (uint32_t *to : {&d.type, &d.origin, &d.specification, &d.annotation})
                if (auto found = references_.signatures.find(*to);
                    found != references_.signatures.end())
                    *to = found->second;
        return tree;
    }

    Skips &skips_;
    Abbrevs abbrevs_;
    TypeReferences references_;
    std::map<uint64_t, DieTree> trees_; // by the offset of the first unit
    std::map<uint64_t, uint64_t> ends_; // of units, by their offsets
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
        const DwarfFile *file = sorted.front()->file;
        TakesLanguage takes;
        if (get_types(units, file))
            takes = [&](uint16_t language) { return get_types(units, {file, language}); };
        return TreeReader(skips).run(sorted, takes);
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
