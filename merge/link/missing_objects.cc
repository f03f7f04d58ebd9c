// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A pool has an object id and addresses, but no name. The section may also have addresses
// of DWARF itself (clang's DWARF 5), which differ from a pool only in that they have no id.
//
// Method. A place with a relocation in a relocatable image (placed_pools() skips it), or a value
// that may be an address in a linked one, is not an id. The symbols at a pool's addresses tell what
// the object contains.
#include "merge/link/missing_objects.h"

#include <algorithm>
#include <elf.h>
#include <map>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

constexpr size_t named_at_most = 3;
// Thread-local variables, and what the linker writes for what it discarded.
constexpr uint64_t small_address = 1 << 20, tombstones = 16;

struct Named {
    std::string_view name, source;
};
/// By section (0 in a linked file) and value.
using SymbolsByPlace = std::map<std::pair<uint32_t, uint64_t>, Named>;

/// Names the places in `symbols` by the first function or variable at each. In a symbol table,
/// local symbols follow that of their source file.
void name_places(const Image &image, SymbolsByPlace &symbols)
{
    std::string_view source;
    for (const Symbol &s : image.elf->symbols().all()) {
        if (s.type == STT_FILE)
            source = s.name();
        if ((s.type != STT_FUNC && s.type != STT_OBJECT) || s.home != Home::section)
            continue;
        auto wanted = symbols.find({image.kind == ImageKind::linked ? 0 : s.section, s.value});
        if (wanted != symbols.end() && wanted->second.name.empty())
            wanted->second = {s.name(), s.binding == STB_LOCAL ? source : std::string_view()};
    }
}

/// Is the first entry an address of DWARF, not an object id?
bool may_be_address(const PoolPart &part, const Image &image)
{
    const std::byte *first = part.entries.data() - sizeof part.first_id;
    const uint64_t address = part.address_size == 8 ? load<uint64_t>(first, part.order)
                                                    : load<uint32_t>(first, part.order);
    const uint64_t last = part.address_size == 8 ? UINT64_MAX : UINT32_MAX;
    return address < small_address || address > last - tombstones ||
           std::any_of(image.sections.begin(), image.sections.end(), [&](const OutputSection &s) {
               return (s.flags & SHF_ALLOC) && address >= s.address &&
                      address - s.address <= s.size;
           });
}

class Finder
{
public:
    Finder(const std::vector<Object> &objects, const Image &image) : image_(image)
    {
        for (const Object &o : objects)
            ids_.insert(o.trailer.object_id);
    }

    MissingObjects run()
    {
        // In link order, which Image::pools does not keep.
        std::map<uint64_t, const PoolPart *> linked;
        for (const auto &[id, parts] : image_.pools)
            for (const PoolPart &part : parts)
                if (!ids_.contains(id) && !may_be_address(part, image_))
                    linked.emplace(part.offset, &part);
        for (const auto &place : linked)
            add([&part = *place.second](auto name) {
                for (uint32_t i = 1; i <= part.count(); ++i)
                    name(0, part.address(i));
            });
        for (const auto &[id, pools] : image_.placed)
            for (const PlacedPool &pool : pools)
                if (!ids_.contains(id))
                    add([&](auto name) {
                        for (const Place &p : pool.places)
                            if (p.kind == Place::symbol)
                                name_place(p, name);
                    });
        return std::move(out_);
    }

private:
    /// for_each_address(visit) calls visit(section, value) for each address of the object.
    template <typename Visit>
    void add(Visit for_each_address)
    {
        if (out_.count++)
            return;
        SymbolsByPlace symbols;
        for_each_address([&](auto... place) { symbols.try_emplace({place...}); });
        name_places(image_, symbols);
        for_each_address([&](auto... place) {
            const Named &found = symbols.at({place...});
            if (!found.name.empty() && out_.names.size() < named_at_most)
                out_.names.emplace_back(found.name);
            if (out_.source.empty())
                out_.source = found.source;
        });
    }

    template <typename Name>
    void name_place(const Place &p, Name name) const
    {
        const Symbol s = image_.elf->symbols()[p.symbol_index];
        if (s.home == Home::section)
            name(s.section, s.value + static_cast<uint64_t>(p.addend));
    }

    const Image &image_;
    std::unordered_set<uint64_t> ids_; // of the inputs
    MissingObjects out_;
};

} // namespace

MissingObjects find_missing(const std::vector<Object> &objects, const Image &image)
{
    // An object made from the image's DWARF covers everything beyond the inputs.
    const bool completed = std::any_of(objects.begin(), objects.end(), [](const Object &o) {
        return o.has_trailer && (o.trailer.flags & trailer_final_addresses);
    });
    if (completed || image.kind == ImageKind::combined)
        return {};
    return Finder(objects, image).run();
}

} // namespace btflink::merge
