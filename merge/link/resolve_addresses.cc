// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. An object identifies its variables and functions by relocations against its own symbols;
// the merge needs final addresses. Names are not sufficient, because two statics may share one.
//
// Method. With an image, the object's address pool in the image is found by object id. Objects with
// equal ids are equal, and are matched in link order. If the image has no pool for an object, the
// symbol of the object's relocation (for a local symbol: a named symbol at its address) is looked
// up in the image's symbol table, and used if its name is unique there. Without an image, the
// address is the position of the input's section, plus symbol and addend.
//
// Invariant. A Location is never a guess: uncertain ones are `unknown`. An address of 0 in a linked
// image counts as known, although linkers also write 0 into the pools for discarded sections: it
// may be the address of a per-CPU variable. Callers must check it.
#include "merge/link/image.h"

#include <algorithm>
#include <elf.h>

namespace btflink::merge
{

namespace
{

/// Symbols of a file by place, and by unique name.
class SymbolIndex
{
public:
    explicit SymbolIndex(const ElfFile &elf) : elf_(elf)
    {
        const SymbolTable &symbols = elf.symbols();
        for (uint32_t i = 0; i < symbols.size(); ++i) {
            const Symbol s = symbols[i];
            if (!*s.text || s.type == STT_SECTION || s.type == STT_FILE ||
                s.home == Home::undefined)
                continue;
            if (s.home == Home::section && (s.type == STT_OBJECT || s.type == STT_FUNC))
                by_place_.push_back({s.section, s.value, i});
            auto [it, added] = by_name_.emplace(s.name(), i);
            if (!added && it->second != several && !same_place(symbols[it->second], s))
                it->second = several;
        }
        std::sort(by_place_.begin(), by_place_.end());
    }

    /// The first symbol at this place.
    std::optional<Symbol> at(uint32_t section, uint64_t value) const
    {
        auto it = std::lower_bound(by_place_.begin(), by_place_.end(), Placed{section, value, 0});
        if (it == by_place_.end() || it->section != section || it->value != value)
            return std::nullopt;
        return elf_.symbols()[it->number];
    }

    std::optional<Symbol> named(std::string_view name) const
    {
        auto it = by_name_.find(name);
        if (it == by_name_.end() || it->second == several)
            return std::nullopt;
        return elf_.symbols()[it->second];
    }

private:
    static constexpr uint32_t several = UINT32_MAX;

    /// In a linked file, values are addresses; in others, offsets into sections.
    bool same_place(const Symbol &a, const Symbol &b) const
    {
        return a.value == b.value &&
               (!elf_.is_relocatable() || (a.home == b.home && a.section == b.section));
    }

    struct Placed {
        uint32_t section;
        uint64_t value;
        uint32_t number;
        auto operator<=>(const Placed &) const = default;
    };

    const ElfFile &elf_;
    std::vector<Placed> by_place_;
    std::unordered_map<std::string_view, uint32_t> by_name_;
};

class Locator
{
public:
    Locator(const std::vector<Input> &inputs, const std::vector<Object> &objects,
            const Image &image)
        : inputs_(inputs), objects_(objects), image_(image), input_symbols_(inputs.size())
    {
    }

    Locations run()
    {
        out_.not_linked.resize(objects_.size());
        out_.pool.resize(objects_.size());
        out_.variables.resize(objects_.size());
        std::vector<bool> in_image(objects_.size()); // whether the image has the object's pool
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (!objects_[i].has_trailer)
                continue;
            auto pool = pool_in_image(objects_[i]);
            in_image[i] = pool.has_value();
            out_.pool[i] = pool ? std::move(*pool) : pool_in_input(objects_[i]);
        }
        if (image_.kind != ImageKind::combined)
            find_not_linked(in_image);
        for (size_t i = 0; i < objects_.size(); ++i)
            for (const Variable &v : objects_[i].variables)
                out_.variables[i].push_back(variable(objects_[i], v, out_.pool[i]));
        return std::move(out_);
    }

private:
    std::optional<std::vector<Location>> pool_in_image(const Object &o)
    {
        const uint32_t count = o.trailer.pool_entries;
        std::vector<Location> locations;
        if (image_.kind == ImageKind::combined)
            return std::nullopt;
        if (o.trailer.flags & trailer_final_addresses) {
            for (uint64_t address : o.trailer.addresses)
                locations.push_back(final_address(address, sizeof address));
        } else if (image_.kind == ImageKind::linked) {
            const PoolPart *part = next(image_.pools, o);
            if (!part || part->count() < count)
                return std::nullopt;
            for (uint32_t i = 1; i <= count; ++i)
                locations.push_back(final_address(part->address(i), part->address_size));
        } else {
            const PlacedPool *pool = next(image_.placed, o);
            if (!pool || pool->places.size() < count)
                return std::nullopt;
            for (uint32_t i = 0; i < count; ++i)
                locations.push_back(in_image(pool->places[i]));
        }
        return locations;
    }

    std::vector<Location> pool_in_input(const Object &o)
    {
        std::vector<Location> locations(o.trailer.pool_entries);
        for (size_t i = 0; i < o.pool.size(); ++i)
            locations[i] = place(o, o.pool[i]);
        return locations;
    }

    /// The first unused pool with the object's id.
    template <typename Pools>
    auto next(const Pools &pools, const Object &o) -> decltype(&pools.begin()->second.front())
    {
        auto it = pools.find(o.trailer.object_id);
        if (it == pools.end())
            return nullptr;
        // Objects with equal ids are equal. If fewer were linked, it does not matter which.
        size_t used = used_[o.trailer.object_id]++;
        return used < it->second.size() ? &it->second[used] : nullptr;
    }

    static Location final_address(uint64_t value, uint8_t address_size)
    {
        if (value == (address_size == 8 ? UINT64_MAX : UINT32_MAX))
            return {Location::discarded, {}};
        return {Location::known, {0, value}};
    }

    /// Resolves a place in a relocatable image.
    Location in_image(const Place &p) const
    {
        if (p.kind != Place::symbol)
            return {Location::discarded, {}};
        return of_symbol(image_.elf->symbols()[p.symbol_index], p.addend);
    }

    Location of_symbol(const Symbol &s, int64_t addend) const
    {
        uint64_t value = s.value + static_cast<uint64_t>(addend);
        switch (s.home) {
        case Home::undefined:
            return {Location::undefined, {}};
        case Home::common:
            return {Location::common, {}};
        case Home::absolute:
            return {Location::known,
                    {image_.kind == ImageKind::linked ? 0 : absolute_section, value}};
        case Home::section:
            break;
        }
        return {Location::known, {image_.kind == ImageKind::linked ? 0 : s.section, value}};
    }

    void find_not_linked(const std::vector<bool> &in_image)
    {
        bool image_has_pools = false;
        for (size_t i = 0; i < objects_.size(); ++i)
            image_has_pools |=
                in_image[i] && !(objects_[i].trailer.flags & trailer_final_addresses);
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (in_image[i])
                continue;
            if (image_has_pools && (objects_[i].trailer.flags & trailer_has_pool))
                out_.not_linked[i] = true;
            else
                ++out_.objects_without_pool;
        }
    }

    /// The pool has the address in most cases. Otherwise it follows from the variable's entry in
    /// its DATASEC.
    Location variable(const Object &o, const Variable &v, const std::vector<Location> &pool)
    {
        if (image_.kind != ImageKind::combined && v.pool_index &&
            pool[v.pool_index - 1].state != Location::unknown)
            return pool[v.pool_index - 1];
        if (v.place.kind == Place::named)
            return named_section(o, v);
        if (v.place.kind == Place::symbol)
            return place(o, v.place);
        if (v.place.kind == Place::address && image_.kind == ImageKind::linked)
            return cut_address(static_cast<uint32_t>(v.place.addend));
        return v.pool_index ? pool[v.pool_index - 1] : Location{};
    }

    /// Resolves a place in an input: without an image by the layout of the inputs, with an image by
    /// the place's symbol.
    Location place(const Object &o, const Place &p)
    {
        if (p.kind != Place::symbol)
            return {};
        if (image_.kind == ImageKind::combined) {
            uint32_t input = o.input;
            const Symbol s = image_.definition(inputs_, input, p.symbol_index);
            if (s.home != Home::section)
                return of_symbol(s, p.addend);
            const auto &base = image_.bases[input][s.section];
            if (!base)
                return {Location::discarded, {}};
            return {Location::known,
                    {base->section, base->value + s.value + static_cast<uint64_t>(p.addend)}};
        }
        return by_symbol(o, p);
    }

    Location by_symbol(const Object &o, const Place &p)
    {
        std::optional<Symbol> s = inputs_[o.input].elf->symbols()[p.symbol_index];
        int64_t addend = p.addend;
        if (s->binding == STB_LOCAL && s->home == Home::section) {
            s = symbols_of(o.input).at(s->section, s->value + static_cast<uint64_t>(addend));
            addend = 0;
        }
        if (!s || !*s->text)
            return {};
        if (!image_symbols_)
            image_symbols_ = std::make_unique<SymbolIndex>(*image_.elf);
        const std::optional<Symbol> there = image_symbols_->named(s->name());
        if (!there)
            return {};
        return of_symbol(*there, addend);
    }

    const SymbolIndex &symbols_of(uint32_t input)
    {
        if (!input_symbols_[input])
            input_symbols_[input] = std::make_unique<SymbolIndex>(*inputs_[input].elf);
        return *input_symbols_[input];
    }

    /// The linker relocated a plain `.BTF`, so its entry holds the lower 32 bits of the final
    /// address. Finds the whole address.
    Location cut_address(uint32_t low) const
    {
        auto extended = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(low)));
        for (uint64_t address : {uint64_t{low}, extended})
            for (const OutputSection &s : image_.sections)
                if ((s.flags & SHF_ALLOC) && address >= s.address && address - s.address < s.size)
                    return {Location::known, {0, address}};
        return {Location::discarded, {}};
    }

    /// Resolves an offset in the section that the DATASEC names.
    Location named_section(const Object &o, const Variable &v)
    {
        std::string_view name = o.btf.name(v.datasec);
        auto offset = static_cast<uint64_t>(v.place.addend);
        if (image_.kind == ImageKind::combined) {
            const auto &elf = inputs_[o.input].elf;
            if (!elf) {
                const auto &places = image_.datasecs[static_cast<size_t>(&o - objects_.data())];
                Address base = places->at(v.datasec);
                return {Location::known, {base.section, base.value + offset}};
            }
            for (size_t i = 0; i < elf->sections().size(); ++i)
                if (elf->sections()[i].name == name && image_.bases[o.input][i]) {
                    const Address &base = *image_.bases[o.input][i];
                    return {Location::known, {base.section, base.value + offset}};
                }
            return {};
        }
        for (uint32_t i = 0; i < image_.sections.size(); ++i)
            if (image_.sections[i].name == name) {
                if (image_.kind == ImageKind::linked)
                    return {Location::known, {0, image_.sections[i].address + offset}};
                return {Location::known, {i, offset}};
            }
        return {};
    }

    const std::vector<Input> &inputs_;
    const std::vector<Object> &objects_;
    const Image &image_;
    Locations out_;
    std::unordered_map<uint64_t, size_t> used_;
    std::unique_ptr<SymbolIndex> image_symbols_;
    std::vector<std::unique_ptr<SymbolIndex>> input_symbols_;
};

} // namespace

Locations locate(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                 const Image &image)
{
    return Locator(inputs, objects, image).run();
}

} // namespace btflink::merge
