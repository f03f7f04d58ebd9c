// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the positions of each object's variables and functions after the link.
//
// Problem. An object identifies its variables and functions by relocations against its own symbols;
// the merge needs final addresses. Names are not sufficient: two statics may have the same name.
//
// Method. With an image, the object's address pool in the image is found by object id. Objects with
// equal ids are equal, and get the pools with this id in link order. If the image has only pools of
// other objects, the object was not linked. If the object has no pool, or the image has none at
// all, the object's relocations are looked up in the image by name. Without an image, the address
// is the sum of the position of the input's section, the symbol's value and the addend.
//
// The BTF of other tools, and raw object BTF, state offsets of variables in sections. If the symbol
// of one variable confirms its offset, all offsets of the object count; in an image or the output
// of `ld -r`, only those of the variable's DATASEC. If there are no symbols, all offsets count. If
// a symbol contradicts an offset, the object's variables are looked up by name instead.
//
// Invariant. A Location is not a guess: uncertain ones are `unknown`. Two exceptions: offsets that
// nothing confirms because there are no symbols, and the upper half of the address in
// address_ending_in(). An address of 0 in a pool of a linked image is `known`, because a per-CPU
// variable may be there. Linkers also write 0 into pools for discarded sections, so callers must
// check for 0.
#include "merge/link/image.h"

#include <algorithm>
#include <map>

namespace btflink::merge
{

namespace
{

/// The first function or variable at each place (section and value) in a file.
using SymbolsByPlace = std::map<std::pair<uint32_t, uint64_t>, Symbol>;
SymbolsByPlace index_places(const ElfFile &elf)
{
    SymbolsByPlace out;
    for (size_t i = 0; i < elf.symbols.size(); ++i) {
        const Symbol s = elf.symbols[i];
        if (*s.text && s.home == Home::section && (s.type == STT_OBJECT || s.type == STT_FUNC))
            out.try_emplace({s.section, s.value}, s);
    }
    return out;
}

/// The defined symbols of a file. If symbols at several places share a name, its entry is empty.
using SymbolsByName = std::unordered_map<std::string_view, std::optional<Symbol>>;
SymbolsByName index_names(const ElfFile &elf)
{
    SymbolsByName out;
    // In a linked file, values are addresses; in others, offsets into sections.
    auto same_place = [&](const Symbol &a, const Symbol &b) {
        return a.value == b.value &&
               (!elf.is_relocatable() || (a.home == b.home && a.section == b.section));
    };
    for (size_t i = 0; i < elf.symbols.size(); ++i) {
        const Symbol s = elf.symbols[i];
        if (!*s.text || s.type == STT_SECTION || s.type == STT_FILE || s.home == Home::undefined)
            continue;
        std::optional<Symbol> &known = out.try_emplace(s.name(), s).first->second;
        if (known && !same_place(*known, s))
            known.reset();
    }
    return out;
}

/// The number of local functions and variables of each name, in all inputs except the image.
using NameCounts = std::unordered_map<std::string_view, uint32_t>;
NameCounts count_locals(const std::vector<Input> &inputs, const Image &image)
{
    NameCounts out;
    for (const Input &input : inputs) {
        if (!input.elf || &*input.elf == image.elf)
            continue;
        for (size_t i = 0; i < input.elf->symbols.size(); ++i) {
            const Symbol s = input.elf->symbols[i];
            if (s.binding == STB_LOCAL && (s.type == STT_OBJECT || s.type == STT_FUNC))
                ++out[s.name()];
        }
    }
    return out;
}

/// What symbols show about the offsets in an object's DATASECs. Each variable has one of these
/// results. For several variables the highest result counts, so one contradiction suffices.
enum class Offsets : uint8_t { unproven, confirmed, contradicted };

class Locator
{
public:
    Locator(const std::vector<Input> &inputs, const std::vector<Object> &objects,
            const Image &image)
        : inputs_(inputs), objects_(objects), image_(image)
    {
    }

    Locations run()
    {
        out_.not_linked.resize(objects_.size());
        out_.pool.resize(objects_.size());
        out_.variables.resize(objects_.size());
        std::vector<bool> in_image(objects_.size()); // pool found in the image, or final addresses
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (!objects_[i].has_trailer)
                continue;
            in_image[i] = find_pool_in_image(objects_[i], out_.pool[i]);
            if (!in_image[i])
                find_pool_in_input(objects_[i], out_.pool[i]);
        }
        if (image_.kind != ImageKind::combined)
            find_not_linked(in_image);
        for (size_t i = 0; i < objects_.size(); ++i)
            for (const Variable &v : objects_[i].variables)
                out_.variables[i].push_back(location_of(objects_[i], v, out_.pool[i]));
        return std::move(out_);
    }

private:
    bool find_pool_in_image(const Object &o, std::vector<Location> &out)
    {
        const uint32_t count = o.trailer.pool_entries;
        if (image_.kind == ImageKind::combined)
            return false;
        if (o.trailer.flags & trailer_final_addresses) {
            for (uint64_t address : o.trailer.addresses)
                out.push_back(final_address(address, image_.elf->address_size()));
        } else if (image_.kind == ImageKind::linked) {
            const PoolPart *part = next_pool(image_.pools, o);
            if (!part || part->count() < count)
                return false;
            for (uint32_t i = 1; i <= count; ++i)
                out.push_back(final_address(part->address(i), part->address_size));
        } else {
            const RelocatablePool *pool = next_pool(image_.relocatable_pools, o);
            if (!pool || pool->addresses.size() < count)
                return false;
            for (const UnresolvedAddress &p : std::span(pool->addresses).first(count))
                out.push_back(p.kind == UnresolvedAddress::symbol
                                  ? symbol_location(image_.elf->symbols[p.symbol_index], p.addend)
                                  : discarded);
        }
        return true;
    }

    void find_pool_in_input(const Object &o, std::vector<Location> &out)
    {
        out.resize(o.trailer.pool_entries);
        for (size_t i = 0; i < o.pool.size(); ++i)
            out[i] = resolve(o, o.pool[i]);
    }

    /// The first unused pool with the object's id; null if there is none.
    template <typename Pools>
    auto next_pool(const Pools &pools, const Object &o) -> decltype(&pools.begin()->second.front())
    {
        auto it = pools.find(o.trailer.object_id);
        if (it == pools.end())
            return nullptr;
        // Objects with equal ids are equal. If only some of them were linked, any may be taken.
        size_t used = pools_in_use_[o.trailer.object_id]++;
        return used < it->second.size() ? &it->second[used] : nullptr;
    }

    static constexpr Location discarded{Location::discarded, {}};

    Location known(uint32_t section, uint64_t value) const
    {
        return {Location::known, {image_.kind == ImageKind::linked ? 0 : section, value}};
    }

    Location final_address(uint64_t value, uint8_t address_size) const
    {
        return value == (address_size == 8 ? UINT64_MAX : UINT32_MAX) ? discarded : known(0, value);
    }

    Location symbol_location(const Symbol &s, int64_t addend) const
    {
        const uint64_t value = s.value + static_cast<uint64_t>(addend);
        switch (s.home) {
        case Home::undefined:
            return {Location::undefined, {}};
        case Home::common:
            return {Location::common, {}};
        case Home::absolute:
            return known(absolute_section, value);
        case Home::section:
            break;
        }
        return known(s.section, value);
    }

    /// A place in a section of an input, without an image.
    Location input_location(uint32_t input, uint32_t section, uint64_t offset) const
    {
        const auto &base = image_.bases[input][section];
        return base ? known(base->section, base->value + offset) : discarded;
    }

    void find_not_linked(const std::vector<bool> &in_image)
    {
        const bool image_has_pools = has_pools(image_);
        for (size_t i = 0; i < objects_.size(); ++i) {
            if (in_image[i])
                continue;
            if (image_has_pools && (objects_[i].trailer.flags & trailer_has_pool))
                out_.not_linked[i] = true;
            else
                ++out_.objects_without_pool;
        }
    }

    /// With an image, the pool has the address in most cases. Otherwise the variable's entry in a
    /// DATASEC gives the address, or the input's pool if there is no entry that states an address.
    Location location_of(const Object &o, const Variable &v, const std::vector<Location> &pool)
    {
        if (image_.kind != ImageKind::combined && v.pool_index &&
            pool[v.pool_index - 1].state != Location::unknown)
            return pool[v.pool_index - 1];
        if (v.address.kind == UnresolvedAddress::named)
            return datasec_location(o, v);
        if (v.address.kind == UnresolvedAddress::symbol)
            return resolve(o, v.address);
        if (v.address.kind == UnresolvedAddress::address && image_.kind == ImageKind::linked)
            return address_ending_in(static_cast<uint32_t>(v.address.addend));
        return v.pool_index ? pool[v.pool_index - 1] : Location{};
    }

    /// Resolves an address by its symbol: in the image, or, if there is no image, in the layout of
    /// the inputs.
    Location resolve(const Object &o, const UnresolvedAddress &p)
    {
        if (p.kind != UnresolvedAddress::symbol)
            return {};
        if (image_.kind != ImageKind::combined)
            return image_symbol_location(o, p);
        uint32_t input = o.input;
        const Symbol s = image_.definition(inputs_, input, p.symbol_index);
        return s.home == Home::section
                   ? input_location(input, s.section, s.value + static_cast<uint64_t>(p.addend))
                   : symbol_location(s, p.addend);
    }

    /// Looks up the symbol in the image by name. If the symbol is local, it may be a section's, so
    /// the function or variable at the same address is looked up instead. The name must be unique
    /// in the image. The name of a local symbol must also be unique among the local symbols of all
    /// inputs: otherwise the linker may have dropped this symbol and kept another of its name.
    Location image_symbol_location(const Object &o, const UnresolvedAddress &p)
    {
        const ElfFile &elf = *inputs_[o.input].elf;
        Symbol s = elf.symbols[p.symbol_index];
        int64_t addend = p.addend;
        if (s.binding == STB_LOCAL && s.home == Home::section) {
            auto [symbols, is_new] = input_symbols_.try_emplace(o.input);
            if (is_new)
                symbols->second = index_places(elf);
            const auto there =
                symbols->second.find({s.section, s.value + static_cast<uint64_t>(addend)});
            if (there == symbols->second.end())
                return {};
            s = there->second;
            addend = 0;
            if (s.binding == STB_LOCAL && local_count(s.name()) > 1)
                return {};
        }
        if (!image_symbols_)
            image_symbols_ = index_names(*image_.elf);
        const auto named = image_symbols_->find(s.name());
        if (named == image_symbols_->end() || !named->second || !may_become(s, *named->second))
            return {};
        return symbol_location(*named->second, addend);
    }

    /// May `own`, of an input, have become `found`, of the image? If not, the linker dropped `own`,
    /// or `found` may be a static symbol that has the same name. A weak definition that the linker
    /// chose stays weak, a hidden symbol becomes local, relaxation shrinks functions, a common
    /// symbol may grow.
    bool may_become(const Symbol &own, const Symbol &found)
    {
        if (own.home == Home::undefined)
            return true;
        if (own.binding == STB_WEAK && found.binding == STB_GLOBAL)
            return false;
        const bool was_local = own.binding == STB_LOCAL;
        if (found.binding != STB_LOCAL ? was_local : !was_local && local_count(own.name()) > 0)
            return false;
        if (own.home == Home::common)
            return true;
        const bool fits = own.type == STT_FUNC || own.size == 0 || own.size == found.size;
        return own.type == STT_NOTYPE || (own.type == found.type && fits);
    }

    /// The number of local functions and variables of this name, in all inputs except the image.
    uint32_t local_count(std::string_view name)
    {
        if (!local_counts_)
            local_counts_ = count_locals(inputs_, image_);
        const auto found = local_counts_->find(name);
        return found == local_counts_->end() ? 0 : found->second;
    }

    /// The address in the image that ends with these 32 bits, which a final link wrote into a
    /// DATASEC entry. The upper 32 bits are zeros or, as in kernels for x86-64, copies of bit 31.
    Location address_ending_in(uint32_t low) const
    {
        auto extended = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(low)));
        for (uint64_t address : {uint64_t{low}, extended})
            for (const ElfSection &s : image_.sections)
                if ((s.head.sh_flags & SHF_ALLOC) && address >= s.head.sh_addr &&
                    address - s.head.sh_addr < s.head.sh_size)
                    return known(0, address);
        return discarded;
    }

    /// The symbols that show where an object's variables are, by name. Null if the offsets of the
    /// object's DATASECs are right or not used (an ELF object with a trailer; BTF made from a
    /// linked image), or if there is no image and the input is raw BTF.
    SymbolsByName *symbols_for(const Object &o)
    {
        const auto &own = inputs_[o.input].elf;
        const bool combined = image_.kind == ImageKind::combined;
        if ((o.has_trailer && own) || (o.trailer.flags & trailer_final_addresses) ||
            (combined && !own))
            return nullptr;
        std::optional<SymbolsByName> &symbols = combined ? own_symbols_[o.input] : image_symbols_;
        if (!symbols)
            symbols = index_names(combined ? *own : *image_.elf);
        return &*symbols;
    }

    /// Is the symbol in the section that the variable's DATASEC names?
    bool is_in_datasec(const Object &o, const Variable &v, const Symbol &s) const
    {
        return s.home == Home::section &&
               file_of(o).sections[s.section].name == o.btf.name(v.datasec);
    }

    /// The symbol of a variable, if symbols_for() has only one symbol with the variable's name, and
    /// this symbol may be the variable's. In the section that the DATASEC names, a global variable
    /// may have a local symbol, because the variable may be hidden. In another section, where gcc
    /// -gbtf -fdata-sections puts variables, the symbol is local exactly if the variable is static.
    std::optional<Symbol> symbol_of(const Object &o, const Variable &v)
    {
        SymbolsByName *symbols = symbols_for(o);
        const auto named = symbols ? symbols->find(o.btf.name(v.var)) : SymbolsByName::iterator();
        if (!symbols || named == symbols->end() || !named->second)
            return std::nullopt;
        const Symbol &s = *named->second;
        const bool is_static = btf::tail_of(o.btf.type(v.var))[0] == BTF_VAR_STATIC,
                   is_local = s.binding == STB_LOCAL;
        const bool fits = is_in_datasec(o, v, s) ? is_local || !is_static
                                                 : is_local == is_static && s.type == STT_OBJECT &&
                                                       s.home == Home::section;
        return fits || s.home == Home::common ? named->second : std::nullopt;
    }
    const ElfFile &file_of(const Object &o) const
    {
        return image_.kind == ImageKind::combined ? *inputs_[o.input].elf : *image_.elf;
    }

    /// The position of a symbol in its section.
    static uint64_t offset_of(const ElfFile &elf, const Symbol &s)
    {
        return s.value - (elf.is_relocatable() ? 0 : elf.sections[s.section].head.sh_addr);
    }

    /// Is the variable's symbol where its DATASEC says? Raw BTF made from an object has the offsets
    /// of that object, not those of the image; gcc -gbtf writes 0.
    Offsets check_offset(const Object &o, const Variable &v)
    {
        if (v.address.kind != UnresolvedAddress::named)
            return Offsets::unproven;
        const std::optional<Symbol> s = symbol_of(o, v);
        if (!s)
            return Offsets::unproven;
        const bool agrees = is_in_datasec(o, v, *s) &&
                            offset_of(file_of(o), *s) == static_cast<uint64_t>(v.address.addend);
        return agrees ? Offsets::confirmed : Offsets::contradicted;
    }

    /// Are the offsets in a DATASEC of the object those in file_of(o)? A contradiction counts for
    /// the whole object. So does a confirmation if file_of(o) is the object's own file. In an image
    /// or the output of `ld -r`, another object may have a symbol there by chance.
    Offsets check_offsets(const Object &o, TypeId datasec)
    {
        const auto object_index = static_cast<size_t>(&o - objects_.data());
        const auto [checked, is_new] = offsets_.try_emplace(object_index);
        auto &[whole, by_datasec] = checked->second;
        for (size_t i = 0; is_new && i < o.variables.size(); ++i) {
            const Offsets found = check_offset(o, o.variables[i]);
            whole = std::max(whole, found);
            Offsets &known = by_datasec[raw(o.variables[i].datasec)];
            known = std::max(known, found);
        }
        if (is_new && whole == Offsets::contradicted)
            out_.other_offsets.push_back(object_index);
        return whole == Offsets::contradicted || has_own_file(object_index)
                   ? whole
                   : by_datasec[raw(datasec)];
    }

    /// Is file_of() the object's own file, and not the result of a link? (Objects are in the order
    /// of their inputs.)
    bool has_own_file(size_t object) const
    {
        auto shares = [&](size_t other) {
            return other < objects_.size() && objects_[other].input == objects_[object].input;
        };
        return image_.kind == ImageKind::combined && !shares(object - 1) && !shares(object + 1);
    }

    /// The place of a variable whose object has other offsets than file_of(o). In an image, a
    /// local symbol may belong to another object.
    Location variable_symbol_location(const Object &o, const Variable &v)
    {
        const bool combined = image_.kind == ImageKind::combined;
        const std::optional<Symbol> s = symbol_of(o, v);
        if (!s || (!combined && s->binding == STB_LOCAL))
            return {};
        return combined && s->home == Home::section
                   ? input_location(o.input, s->section, offset_of(file_of(o), *s))
                   : symbol_location(*s, 0);
    }

    /// Resolves an offset in the section that the DATASEC names. If symbols_for() has symbols, one
    /// must confirm the DATASEC's offsets.
    Location datasec_location(const Object &o, const Variable &v)
    {
        const Offsets offsets = check_offsets(o, v.datasec);
        if (offsets == Offsets::contradicted)
            return variable_symbol_location(o, v);
        const SymbolsByName *symbols = symbols_for(o);
        if (offsets == Offsets::unproven && symbols && !symbols->empty())
            return {};
        const std::string_view name = o.btf.name(v.datasec);
        const auto offset = static_cast<uint64_t>(v.address.addend);
        const bool combined = image_.kind == ImageKind::combined;
        const auto &elf = inputs_[o.input].elf;
        if (combined && !elf) {
            const auto &places = image_.datasecs[static_cast<size_t>(&o - objects_.data())];
            const Address base = places->at(v.datasec);
            return known(base.section, base.value + offset);
        }
        for (uint32_t i = 0; combined && i < elf->sections.size(); ++i)
            if (elf->sections[i].name == name && image_.bases[o.input][i])
                return input_location(o.input, i, offset);
        for (uint32_t i = 0; !combined && i < image_.sections.size(); ++i)
            if (image_.sections[i].name == name)
                return known(i, offset + (image_.kind == ImageKind::linked
                                              ? image_.sections[i].head.sh_addr
                                              : 0));
        return {};
    }

    const std::vector<Input> &inputs_;
    const std::vector<Object> &objects_;
    const Image &image_;
    Locations out_;
    std::unordered_map<uint64_t, size_t> pools_in_use_; // number of pools in use, by object id
    std::optional<SymbolsByName> image_symbols_;        // made on first use
    std::unordered_map<uint32_t, SymbolsByPlace> input_symbols_;             // by input
    std::unordered_map<uint32_t, std::optional<SymbolsByName>> own_symbols_; // by input
    // By object: the result for the whole object, and the results by id of the DATASEC.
    std::unordered_map<size_t, std::pair<Offsets, std::unordered_map<uint32_t, Offsets>>> offsets_;
    std::optional<NameCounts> local_counts_; // made on first use
};

} // namespace

Locations locate(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                 const Image &image)
{
    return Locator(inputs, objects, image).run();
}

} // namespace btflink::merge
