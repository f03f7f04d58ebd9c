// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Decodes the entries of a unit into a DieTree.
//
// Problem. A kernel build decodes some twenty million entries. Of their hundred million attributes,
// BTF needs a third. Reading an attribute may take only nanoseconds.
//
// Method. The reader walks over the unit's bytes once, front to back. Abbreviations have been
// compiled into steps (unit.h), so most unneeded attributes are skipped by adding their sizes. An
// unneeded entry is skipped with its children, by its sibling attribute if it has one. An explicit
// stack holds the open entries.
//
// Invariant. The walk only moves forward and stops at the unit's end, so for any input it visits at
// most one entry per byte.
#include "emit/dwarf/fast/form_reader.h"

namespace btflink::emit
{

namespace
{

class DieReader
{
public:
    DieReader(const Unit &unit, DieTree &tree, TypeReferences &references, Skips &skips)
        : file_(*unit.file), unit_(unit), tree_(tree), references_(references), skips_(skips),
          values_(unit, unit.die_offset, skips)
    {
    }

    Result<void> run()
    {
        // The unit's own entry.
        const Abbrev *unit_abbrev = unit_.abbrevs->find(values_.in().uleb());
        if (!unit_abbrev) // possible for type units; compile units were checked
            return fail(place(unit_.die_offset),
                        "unit whose entry has an abbreviation that is not in its table");
        skip_attributes(*unit_abbrev);
        // For compile units, read_own_entry() has checked this.
        if (values_.in().overrun() || values_.problem())
            return fail(place(unit_.die_offset),
                        values_.problem() ? values_.problem() : "the unit's entry is cut off");
        if (!unit_abbrev->children)
            return {};
        open_.push_back({0, DW_TAG_compile_unit, false});
        while (!open_.empty() && !values_.in().at_end()) {
            uint64_t offset = values_.in().offset();
            uint64_t code = values_.in().uleb();
            if (values_.in().overrun())
                return fail(place(offset), "entry runs past the end of its unit");
            if (code == 0) {
                close();
                continue;
            }
            const Abbrev *abbrev = unit_.abbrevs->find(code);
            if (!abbrev)
                return fail(
                    place(offset),
                    strf("entry with abbreviation %llu, which is not in its table", ull(code)));
            if (!read_entry(offset, *abbrev))
                return fail(std::move(*error_));
            if (values_.in().overrun() || values_.problem())
                return fail(place(offset), values_.problem()
                                               ? values_.problem()
                                               : "entry runs past the end of its unit");
        }
        while (!open_.empty()) // a unit may omit the last terminators
            close();
        for (const TypeUnit *unit : values_.type_units())
            references_.type_units.push_back(unit);
        return {};
    }

private:
    struct OpenEntry {
        DieIndex kept; // this entry, or the nearest kept entry above it
        uint32_t tag;
        bool is_kept; // `kept` is this entry
    };

    bool stop(uint64_t offset, std::string why)
    {
        error_ = Error{place(offset), std::move(why)};
        return false;
    }

    Where place(uint64_t offset) const { return file_.where().in(".debug_info").at(offset); }

    void close()
    {
        OpenEntry last = open_.back();
        open_.pop_back();
        if (last.is_kept)
            tree_.end_die(last.kept);
    }

    /// Skips an entry's attributes. Returns the offset that DW_AT_sibling states, or 0 if
    /// AbbrevTable::read() made no step that reads this attribute.
    uint64_t skip_attributes(const Abbrev &abbrev)
    {
        uint64_t sibling = 0;
        values_.for_each_attribute(abbrev, [&](uint32_t attribute) {
            if (attribute == DW_AT_sibling)
                sibling = unit_.offset + values_.in().read<uint32_t>();
            else
                values_.skip();
        });
        return sibling;
    }

    /// Skips an entry and everything below it. Sets unknown_code_ and returns early at an entry
    /// whose abbreviation is not in the table; entries that DW_AT_sibling skips are not looked at.
    void skip_tree(const Abbrev &abbrev)
    {
        const uint64_t sibling = skip_attributes(abbrev);
        if (!abbrev.children)
            return;
        if (sibling > values_.in().offset() && sibling < unit_.end) {
            values_.in().seek(sibling);
            return;
        }
        for (size_t depth = 1; depth && !values_.in().at_end() && !values_.problem();) {
            uint64_t code = values_.in().uleb();
            const Abbrev *below = code ? unit_.abbrevs->find(code) : nullptr;
            if (code && !below) {
                unknown_code_ = true;
                return;
            }
            if (!below) {
                --depth;
                continue;
            }
            skip_attributes(*below);
            depth += below->children;
        }
    }

    bool is_file_level(const OpenEntry &parent) const
    {
        return open_.size() == 1 || is_namespace(parent.tag);
    }

    /// What to keep of an entry below `parent`, the last open entry.
    Keep what_to_keep(const Abbrev &abbrev, const OpenEntry &parent) const
    {
        if (abbrev.tag == DW_TAG_variable && !abbrev.declares && !is_file_level(parent))
            return Keep::no;
        return abbrev.has_signature ? Keep::signature
                                    : keep_tag(abbrev.tag, parent.tag, open_.size() == 1);
    }

    /// Reads or skips the entry at `offset`, whose abbreviation code has been read. On an error,
    /// sets error_ and returns false: a Result per entry would double the cost. The caller checks
    /// whether values_ has a problem or an overrun. Inlined, because a function call would take 2 %
    /// of btf-emit's time.
    [[gnu::always_inline]] bool read_entry(uint64_t offset, const Abbrev &abbrev)
    {
        const OpenEntry parent = open_.back();
        const Keep keep = what_to_keep(abbrev, parent);
        if (keep == Keep::no) {
            skip_tree(abbrev);
            return !unknown_code_ || stop(offset, "an entry below this one has an abbreviation "
                                                  "that is not in its table");
        }
        if (open_.size() > max_depth)
            return stop(offset, strf("entries nest deeper than %zu", max_depth));
        OpenEntry entry{parent.kept, abbrev.tag, keep == Keep::yes};
        if (keep == Keep::yes)
            entry.kept = add_die(offset, abbrev, parent);
        else if (keep == Keep::signature)
            read_signature(offset, abbrev);
        else
            skip_attributes(abbrev);
        if (abbrev.children)
            open_.push_back(entry);
        else if (entry.is_kept)
            tree_.end_die(entry.kept);
        return true;
    }

    [[gnu::always_inline]] DieIndex add_die(uint64_t offset, const Abbrev &abbrev,
                                            const OpenEntry &parent)
    {
        const auto index = static_cast<DieIndex>(tree_.dies.size());
        Die &d = tree_.dies.emplace_back();
        d.tag = abbrev.tag;
        d.offset = static_cast<uint32_t>(offset);
        d.parent = parent.kept;
        tree_.annotations |= d.tag == tag_llvm_annotation || d.tag == tag_gnu_annotation;
        tree_.atomics |= d.tag == DW_TAG_atomic_type;
        if (is_file_level(parent))
            d.has |= Die::file_level;
        DieAttributes<FormReader &> attributes(d, parent.tag, tree_, skips_);
        auto set = [&](uint32_t attribute) { attributes.set(attribute, values_); };
        values_.for_each_attribute(abbrev, set);
        return index;
    }

    /// Notes the type that the entry's signature names. References to the entry will be redirected
    /// to this type.
    void read_signature(uint64_t offset, const Abbrev &abbrev)
    {
        values_.for_each_attribute(abbrev, [&](uint32_t attribute) {
            if (attribute == DW_AT_signature)
                references_.signatures[static_cast<uint32_t>(offset)] = values_.reference();
            else
                values_.skip();
        });
    }

    const DwarfFile &file_;
    const Unit &unit_;
    DieTree &tree_;
    TypeReferences &references_;
    Skips &skips_;
    FormReader values_;
    std::vector<OpenEntry> open_;
    bool unknown_code_ = false;
    std::optional<Error> error_;
};

} // namespace

Result<void> read_entries(const Unit &unit, DieTree &tree, TypeReferences &types, Skips &skips)
{
    return DieReader(unit, tree, types, skips).run();
}

} // namespace btflink::emit
