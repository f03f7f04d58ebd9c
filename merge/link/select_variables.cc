// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Selects the variables that get a VAR, and their sections and offsets.
//
// Problem. An object's VARs are relative to input sections. BTF needs output sections and offsets
// in these, without overlapping variables and without discarded ones.
//
// Method. Final addresses are looked up in the image's allocated sections; without a final link the
// section is already known. Then each section's variables are sorted by offset. Of several
// variables at one place the linker's choice is kept: the strong definition, otherwise the common
// one that is as large as the symbol (with most linkers the largest), otherwise the weak one; of
// equals the first. The DWARF of a linked image and the BTF of other tools do not show which
// variables are weak or common. In a linked image, all variables of both are treated as common;
// elsewhere, those of other tools' BTF are treated as strong definitions.
//
// Intended differences from pahole:
//   pahole                                                  here
//   a weak and a strong definition give two VARs            one: the strong
//   .tbss, which takes no room, hides the next section      thread-local sections are ignored
//   a variable at offset 0 of a section needs a symbol      only one at address 0 does
// An address of 0 may mean "discarded". It is accepted only if a symbol with the variable's name is
// there (x86-64 kernels before 6.15 link per-CPU variables to address 0).
//
// Cost. Sections are few; one sort per section.
#include "merge/link/select.h"

#include <algorithm>
#include <optional>
#include <set>

namespace btflink::merge
{

namespace
{

struct Entry {
    SelectedVariable chosen;
    uint64_t offset;
    uint32_t size;
    uint32_t rank; // of several entries at one place the one with the lowest rank is kept
};

class VariableSelector
{
public:
    VariableSelector(const std::vector<Object> &objects, const Image &image,
                     const Locations &locations, FeatureSet features)
        : objects_(objects), image_(image), locations_(locations), features_(features),
          by_section_(image.sections.size())
    {
    }

    Variables run()
    {
        out_.kept.resize(objects_.size());
        for (uint32_t o = 0; o < objects_.size(); ++o) {
            out_.kept[o].resize(objects_[o].variables.size());
            if (locations_.not_linked[o])
                continue;
            for (uint32_t v = 0; v < objects_[o].variables.size(); ++v)
                if (VariableSkip skip = add_to_section(o, v); skip != VariableSkip::none)
                    drop(o, v, skip);
        }
        // Sections are in index order in a linked image; elsewhere in the order of their first
        // variables.
        if (image_.kind == ImageKind::linked)
            std::ranges::sort(order_);
        // If there is no image, DATASECs of raw BTF that the features select are kept even without
        // variables, unless their size is 0 or an ELF input has an allocated section of their name.
        for (size_t s = image_.first_datasec; s < image_.sections.size(); ++s)
            if (by_section_[s].empty() && image_.sections[s].head.sh_size &&
                wanted(image_.sections[s]))
                order_.push_back(static_cast<uint32_t>(s));
        for (uint32_t section : order_)
            finish(section);
        return std::move(out_);
    }

private:
    void drop(uint32_t o, uint32_t v, VariableSkip reason)
    {
        ++out_.skip_counts[static_cast<size_t>(reason)];
        const Object &object = objects_[o];
        const Variable &variable = object.variables[v];
        out_.skipped.push_back(
            {object.btf.name(variable.var), o, variable.datasec != void_id, reason});
    }

    /// Adds a variable to its section's entries, or keeps it without a section (without_place()),
    /// or returns why it is left out.
    VariableSkip add_to_section(uint32_t o, uint32_t v)
    {
        const Variable &variable = objects_[o].variables[v];
        const Location &l = locations_.variables[o][v];
        switch (l.state) {
        case Location::unknown:
            return without_place(o, v);
        case Location::discarded:
            return VariableSkip::discarded;
        case Location::undefined:
            return VariableSkip::undefined;
        case Location::common:
            return VariableSkip::common;
        case Location::known:
            break;
        }
        uint32_t section = l.address.section;
        uint64_t offset = l.address.value;
        if (image_.kind == ImageKind::linked) {
            auto found = section_at(l.address.value);
            if (l.address.value == 0 && !(found && is_object_at_zero(o, variable, *found)))
                return VariableSkip::discarded;
            if (!found)
                return VariableSkip::other_section;
            section = *found;
            offset -= image_.sections[section].head.sh_addr;
        }
        if (section >= image_.sections.size() || !wanted(image_.sections[section]))
            return VariableSkip::other_section;
        if (variable.size == 0)
            return VariableSkip::no_size;
        if (offset > UINT32_MAX || variable.size > UINT32_MAX - offset)
            return VariableSkip::too_large;
        if (by_section_[section].empty())
            order_.push_back(section);
        by_section_[section].push_back({{o, v, static_cast<uint32_t>(offset)},
                                        offset,
                                        variable.size,
                                        rank_of(objects_[o], variable, l.address.value)});
        return VariableSkip::none;
    }

    /// A strong definition comes first, a weak one last. Of common ones, the one with the symbol's
    /// size comes first, then the larger one. A common variable of an object is one that no DATASEC
    /// lists. If the object was made from a linked image, all its variables may be common ones. The
    /// BTF of other tools does not show which variables are weak or common: in a linked image the
    /// symbol's size decides, elsewhere the order.
    uint32_t rank_of(const Object &object, const Variable &variable, uint64_t address)
    {
        if (variable.weak)
            return UINT32_MAX;
        const bool is_final = object.trailer.flags & trailer_final_addresses;
        if (object.has_trailer ? variable.datasec != void_id && !is_final
                               : image_.kind != ImageKind::linked)
            return 0;
        return is_data_symbol(address, variable.size) ? 1 : UINT32_MAX - variable.size;
    }

    /// Does the linked image have a data symbol with this address and size? False without a linked
    /// image.
    bool is_data_symbol(uint64_t address, uint32_t size)
    {
        if (image_.kind != ImageKind::linked)
            return false;
        if (!symbols_) {
            symbols_.emplace();
            for (size_t i = 0; i < image_.elf->symbols.size(); ++i)
                if (const Symbol s = image_.elf->symbols[i]; s.type == STT_OBJECT)
                    symbols_->emplace(s.value, s.size);
        }
        return symbols_->contains({address, size});
    }

    /// Decides about a variable whose location is unknown. Without an image, and with
    /// Feature::global_var, a definition in raw BTF of another tool is kept if no DATASEC lists it.
    VariableSkip without_place(uint32_t o, uint32_t v)
    {
        const Object &object = objects_[o];
        const Variable &variable = object.variables[v];
        if (object.has_trailer || variable.datasec != void_id)
            return VariableSkip::no_address;
        if (btf::tail_of(object.btf.type(variable.var))[0] == BTF_VAR_GLOBAL_EXTERN)
            return VariableSkip::undefined;
        if (!features_.has(Feature::global_var))
            return VariableSkip::other_section;
        if (o >= image_.datasecs.size() || !image_.datasecs[o])
            return VariableSkip::no_address;
        out_.kept[o][v] = true;
        return VariableSkip::none;
    }

    static bool is_variable_section(const ElfSection &s)
    {
        return (s.head.sh_flags & SHF_ALLOC) && !(s.head.sh_flags & SHF_TLS) &&
               (s.head.sh_type == SHT_PROGBITS || s.head.sh_type == SHT_NOBITS);
    }

    bool wanted(const ElfSection &s) const
    {
        if (!is_variable_section(s))
            return false;
        return features_.has(Feature::global_var) ||
               (features_.has(Feature::var) && s.name == ".data..percpu");
    }

    std::optional<uint32_t> section_at(uint64_t address) const
    {
        for (uint32_t i = 0; i < image_.sections.size(); ++i) {
            const ElfSection &s = image_.sections[i];
            if (is_variable_section(s) && address >= s.head.sh_addr &&
                address - s.head.sh_addr < s.head.sh_size)
                return i;
        }
        return std::nullopt;
    }

    bool is_object_at_zero(uint32_t o, const Variable &variable, uint32_t section) const
    {
        std::string_view name = objects_[o].btf.name(variable.var);
        return std::ranges::binary_search(image_.objects_at_zero, std::pair(name, section));
    }

    /// Makes the DATASEC of a section.
    void finish(uint32_t section)
    {
        std::vector<Entry> &entries = by_section_[section];
        std::ranges::stable_sort(entries, [](const Entry &a, const Entry &b) {
            return std::pair(a.offset, a.rank) < std::pair(b.offset, b.rank);
        });
        DataSection data{image_.sections[section].name, {}, 0};
        uint64_t end = 0;
        const Entry *last = nullptr;
        for (const Entry &e : entries) {
            VariableSkip skip = VariableSkip::none;
            if (last && e.offset == last->offset)
                skip = VariableSkip::duplicate;
            else if (e.offset < end)
                skip = VariableSkip::overlap;
            if (skip != VariableSkip::none) {
                drop(e.chosen.object, e.chosen.index, skip);
                continue;
            }
            last = &e;
            end = e.offset + e.size;
            data.entries.push_back(e.chosen);
            out_.kept[e.chosen.object][e.chosen.index] = true;
        }
        if (section >= image_.first_datasec)
            end = std::max(end, image_.sections[section].head.sh_size);
        data.size = static_cast<uint32_t>(std::min<uint64_t>(end, UINT32_MAX));
        out_.sections.push_back(std::move(data));
    }

    const std::vector<Object> &objects_;
    const Image &image_;
    const Locations &locations_;
    FeatureSet features_;
    std::vector<std::vector<Entry>> by_section_;
    std::vector<uint32_t> order_;                                    // sections that get a DATASEC
    std::optional<std::set<std::pair<uint64_t, uint64_t>>> symbols_; // address, size; if needed
    Variables out_;
};

} // namespace

const char *skip_name(VariableSkip skip)
{
    constexpr const char *names[] = {"kept",      "other_section", "discarded", "undefined",
                                     "common",    "no_address",    "duplicate", "overlap",
                                     "too_large", "no_size"};
    static_assert(std::size(names) == static_cast<size_t>(VariableSkip::count));
    return names[static_cast<size_t>(skip)];
}

Variables select_variables(const std::vector<Object> &objects, const Image &image,
                           const Locations &locations, FeatureSet features)
{
    return VariableSelector(objects, image, locations, features).run();
}

} // namespace btflink::merge
