// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds address pools and the relocations of their entries.
#include "merge/input/pools.h"

#include <elf.h>
#include <optional>

namespace btflink::merge
{

namespace
{

/// The places of a pool's entries. Nothing if the part belongs to DWARF itself: then it has an
/// address where a pool has its id. `next`: the first relocation that does not belong to an earlier
/// part.
std::optional<PlacedPool> placed(const PoolPart &part, Bytes section,
                                 const std::vector<Reloc> &relocs,
                                 std::vector<Reloc>::const_iterator &next)
{
    PlacedPool pool{part.first_id, std::vector<Place>(part.count())};
    const auto begin = static_cast<uint64_t>(part.entries.data() - section.data());
    const uint64_t end = begin + part.entries.size();
    bool is_dwarf = false;
    for (; next != relocs.end() && next->offset < begin; ++next)
        is_dwarf |= next->offset >= begin - sizeof part.first_id;
    if (is_dwarf)
        return std::nullopt;
    for (; next != relocs.end() && next->offset < end; ++next) {
        const uint64_t at = next->offset - begin;
        if (at % part.address_size == 0 && at / part.address_size < pool.places.size())
            pool.places[at / part.address_size] = {Place::symbol, next->symbol, next->addend};
    }
    return pool;
}

} // namespace

Result<std::vector<PoolSection>> pool_sections(const ElfFile &elf)
{
    std::vector<PoolSection> found;
    for (uint32_t i = 0; i < elf.sections().size(); ++i) {
        if (!may_have_pools(elf.sections()[i].name) || elf.sections()[i].type == SHT_NOBITS)
            continue;
        auto contents = TRY(elf.contents(i));
        std::vector<PoolPart> parts = find_pools(contents.bytes, elf.order());
        found.push_back({i, std::move(contents), std::move(parts)});
    }
    return found;
}

Result<std::vector<PlacedPool>> placed_pools(const ElfFile &elf)
{
    auto sections = TRY(pool_sections(elf));
    std::vector<PlacedPool> pools;
    for (const PoolSection &section : sections) {
        auto relocs = TRY(elf.relocations(section.section, elf.address_size()));
        auto next = relocs.cbegin();
        for (const PoolPart &part : section.parts)
            if (auto pool = placed(part, section.contents.bytes, relocs, next))
                pools.push_back(std::move(*pool));
    }
    return pools;
}

} // namespace btflink::merge
