// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out whether the image has address pools, and finds objects that were linked into the image
// but are not among the inputs.
//
// Problem. A pool has an object id and addresses, but no name.
//
// Method. Pools with ids that no object of the inputs has are counted. The symbols at a pool's
// addresses show what the object contains.
#include "merge/link/image.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

constexpr size_t named_at_most = 3;

/// Section (0 in a linked image) and value of each address of an object.
using Places = std::vector<std::pair<uint32_t, uint64_t>>;

Places places_of(const PoolPart &part)
{
    Places places;
    // Linkers write 0 for dropped functions and variables; another object may have a symbol at 0.
    for (uint32_t i = 1; i <= part.count(); ++i)
        if (const uint64_t address = part.address(i))
            places.emplace_back(0, address);
    return places;
}

Places places_of(const RelocatablePool &pool, const ElfFile &elf)
{
    Places places;
    for (const UnresolvedAddress &p : pool.addresses) {
        if (p.kind != UnresolvedAddress::symbol)
            continue;
        const Symbol s = elf.symbols[p.symbol_index];
        if (s.home == Home::section)
            places.emplace_back(s.section, s.value + static_cast<uint64_t>(p.addend));
    }
    return places;
}

/// Describes the object with these addresses by the first function or variable at each. In a symbol
/// table, local symbols follow the symbol of their source file.
void describe(const Places &places, const Image &image, MissingObjects &out)
{
    // The name and source file at each place.
    std::map<Places::value_type, std::pair<std::string_view, std::string_view>> names;
    for (const auto &place : places)
        names[place];
    std::string_view source;
    const SymbolTable &symbols = image.elf->symbols;
    for (size_t i = 0; i < symbols.size(); ++i) {
        const Symbol s = symbols[i];
        if (s.type == STT_FILE)
            source = s.name();
        if ((s.type != STT_FUNC && s.type != STT_OBJECT) || s.home != Home::section)
            continue;
        const uint32_t section = image.kind == ImageKind::linked ? 0 : s.section;
        auto wanted = names.find({section, s.value});
        // Pools by the gcc plugin have the Thumb bit of 32-bit arm; Symbol::value does not.
        if (wanted == names.end() && s.type == STT_FUNC && image.elf->head.e_machine == EM_ARM)
            wanted = names.find({section, s.value | 1});
        if (wanted != names.end() && wanted->second.first.empty())
            wanted->second = {s.name(), s.binding == STB_LOCAL ? source : std::string_view()};
    }
    for (const auto &place : places) {
        const auto &[name, file] = names[place];
        if (!name.empty() && out.names.size() < named_at_most)
            out.names.emplace_back(name);
        if (out.source.empty())
            out.source = file;
    }
}

} // namespace

bool has_pools(const Image &image)
{
    return !image.relocatable_pools.empty() || !image.pools.empty();
}

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image)
{
    MissingObjects out;
    // An object made from the image's DWARF covers everything that the inputs lack.
    const bool completed = std::ranges::any_of(objects, [](const Object &o) {
        return o.has_trailer && (o.trailer.flags & trailer_final_addresses);
    });
    if (completed || image.kind == ImageKind::combined)
        return out;
    std::unordered_set<uint64_t> ids;
    for (const Object &o : objects)
        ids.insert(o.trailer.object_id);

    std::vector<const PoolPart *> linked;
    for (const auto &[id, parts] : image.pools)
        for (const PoolPart &part : parts)
            if (!ids.contains(id))
                linked.push_back(&part);
    out.count += static_cast<uint32_t>(linked.size());
    // The first in link order. Image::pools keeps this order only among pools with one id.
    if (auto first = std::ranges::min_element(linked, {}, &PoolPart::offset); first != linked.end())
        describe(places_of(**first), image, out);
    for (const auto &[id, pools] : image.relocatable_pools)
        for (const RelocatablePool &pool : pools)
            if (!ids.contains(id) && out.count++ == 0)
                describe(places_of(pool, *image.elf), image, out);
    return out;
}

} // namespace btflink::merge
