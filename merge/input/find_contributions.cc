// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the contributions in each input: one per unit in an object, any number in the output of a
// linker or in a raw file. Also finds address pools, with the relocations of their entries. A
// relocation belongs to the contribution that contains it, an address pool to the contribution with
// its object id. If several contributions have this id, the first pool belongs to the first
// contribution, and so on.
#include "merge/input/inputs.h"

#include "common/io/parallel.h"

#include <algorithm>
#include <unordered_map>

namespace btflink::merge
{

namespace
{

/// The pool at `part`. `next`: the first relocation that does not belong to an earlier part.
RelocatablePool read_pool(const PoolPart &part, Bytes section, const std::vector<Reloc> &relocs,
                          std::vector<Reloc>::const_iterator &next)
{
    RelocatablePool pool{part.object_id, std::vector<UnresolvedAddress>(part.count())};
    const auto begin = static_cast<uint64_t>(part.entries.data() - section.data());
    const uint64_t end = begin + part.entries.size();
    while (next != relocs.end() && next->offset < begin)
        ++next;
    for (; next != relocs.end() && next->offset < end; ++next) {
        const uint64_t at = next->offset - begin;
        if (at % part.address_size == 0 && at / part.address_size < pool.addresses.size())
            pool.addresses[at / part.address_size] = {UnresolvedAddress::symbol, next->symbol,
                                                      next->addend};
    }
    return pool;
}

} // namespace

Result<std::vector<PoolSection>> pool_sections(const ElfFile &elf)
{
    std::vector<PoolSection> found;
    for (uint32_t i = 0; i < elf.sections.size(); ++i) {
        if (!is_pool_section(elf.sections[i].name) || !elf.sections[i].in_file())
            continue;
        auto contents = TRY(elf.contents(i));
        std::vector<PoolPart> parts = find_pools(contents.bytes, elf.order);
        found.push_back({i, std::move(contents), std::move(parts)});
    }
    return found;
}

Result<std::vector<RelocatablePool>> relocatable_pools(const ElfFile &elf)
{
    auto sections = TRY(pool_sections(elf));
    const AbsoluteRelocs all = TRY(AbsoluteRelocs::open(elf));
    std::vector<RelocatablePool> pools;
    for (const PoolSection &section : sections) {
        auto relocs = TRY(all.of(section.section, section.contents.bytes, elf.address_size()));
        auto next = relocs.cbegin();
        for (const PoolPart &part : section.parts)
            pools.push_back(read_pool(part, section.contents.bytes, relocs, next));
    }
    return pools;
}

namespace
{

Result<void> split_section(const Input &input, uint32_t number, uint32_t section,
                           const AbsoluteRelocs &all, InputParts &out)
{
    const ElfFile &elf = *input.elf;
    auto contents = TRY(elf.contents(section));
    Where where{input.where.file, std::string(elf.sections[section].name), 0};
    auto parts = TRY(split_contributions(contents.bytes, where));
    out.contents.push_back(contents);
    std::vector<Reloc> &relocs = out.relocs.emplace_back();
    if (elf.is_relocatable() && !parts.empty())
        relocs = TRY(all.of(section, contents.bytes, 4));
    for (const Contribution &part : parts) {
        const auto begin = std::ranges::lower_bound(relocs, part.offset, {}, &Reloc::offset);
        const auto end =
            std::ranges::lower_bound(relocs, part.offset + part.blob.size(), {}, &Reloc::offset);
        out.list.push_back(
            {number, where.at(part.offset), part, !relocs.empty(), {begin, end}, {}});
    }
    return {};
}

Result<void> attach_pools(const ElfFile &elf, std::vector<InputPart> &parts)
{
    auto pools = TRY(relocatable_pools(elf));
    std::unordered_map<uint64_t, std::deque<RelocatablePool *>> by_id;
    for (RelocatablePool &pool : pools)
        by_id[pool.object_id].push_back(&pool);
    for (InputPart &part : parts) {
        auto id = stated_object_id(part.bytes.trailer, elf.order);
        auto found = id ? by_id.find(*id) : by_id.end();
        if (found == by_id.end() || found->second.empty())
            continue;
        part.pool = std::move(found->second.front()->addresses);
        found->second.pop_front();
    }
    return {};
}

Result<void> split_input(const Input &input, uint32_t number, InputParts &out)
{
    if (!input.elf) {
        Where where = input.where.at(0);
        auto parts = TRY(split_contributions(input.bytes, where));
        for (const Contribution &part : parts)
            out.list.push_back({number, where.at(part.offset), part, false, {}, {}});
        return {};
    }
    const ElfFile &elf = *input.elf;
    const AbsoluteRelocs relocs = TRY(AbsoluteRelocs::open(elf));
    for (uint32_t i = 0; i < elf.sections.size(); ++i)
        if (elf.sections[i].name == ".BTF" && elf.sections[i].in_file())
            TRY(split_section(input, number, i, relocs, out));
    if (elf.is_relocatable() && !out.list.empty())
        TRY(attach_pools(elf, out.list));
    return {};
}

} // namespace

Result<std::vector<InputParts>> find_contributions(const std::vector<Input> &inputs,
                                                   unsigned threads)
{
    std::vector<InputParts> parts(inputs.size());
    TRY(parallel_try(inputs.size(), threads, [&](size_t i) {
        return split_input(inputs[i], static_cast<uint32_t>(i), parts[i]);
    }));
    return parts;
}

} // namespace btflink::merge
