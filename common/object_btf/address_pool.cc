// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes address pools, and finds them in objects and images.
#include "common/object_btf/address_pool.h"

#include <algorithm>

namespace btflink
{

std::vector<std::byte> encode_pool(uint64_t object_id, uint32_t entries, uint8_t address_size,
                                   ByteOrder order)
{
    uint64_t body = 8 + uint64_t{entries} * address_size;
    body = align_up(body, 8); // a spare 32-bit entry, if needed, keeps pools aligned
    ByteWriter out(order);
    out.put<uint32_t>(static_cast<uint32_t>(4 + body));
    out.put<uint16_t>(5); // DWARF version
    out.put<uint8_t>(address_size);
    out.put<uint8_t>(0); // segment selector size
    out.put<uint64_t>(object_id);
    out.put_zeros(body - 8);
    return out.take();
}

uint64_t PoolPart::address(uint32_t index) const
{
    CHECK(index >= 1 && index <= count());
    const std::byte *p = entries.data() + size_t{index - 1} * address_size;
    return address_size == 8 ? load<uint64_t>(p, order) : load<uint32_t>(p, order);
}

std::vector<PoolPart> find_pools(Bytes section, ByteOrder order)
{
    std::vector<PoolPart> parts;
    uint64_t at = 0;
    while (at + 8 <= section.size()) {
        const uint64_t length = load<uint32_t>(section.data() + at, order), body = at + 4;
        if (length == 0) { // padding between the objects' pools
            at += 4;
            continue;
        }
        if (length < 12 || length > section.size() - body)
            break;
        auto version = load<uint16_t>(section.data() + body, order);
        auto address_size = static_cast<uint8_t>(section[body + 2]);
        if (version != 5 || (address_size != 4 && address_size != 8))
            break;
        parts.push_back({load<uint64_t>(section.data() + body + 4, order), at,
                         section.subspan(body + 12, length - 12), address_size, order});
        at = body + length;
    }
    return parts;
}

bool is_only_pools(Bytes section, ByteOrder order, const std::set<uint64_t> &object_ids)
{
    std::vector<PoolPart> parts = find_pools(section, order);
    auto is_zero = [&](size_t begin, size_t end) {
        return std::all_of(section.begin() + static_cast<ptrdiff_t>(begin),
                           section.begin() + static_cast<ptrdiff_t>(end),
                           [](std::byte b) { return b == std::byte{0}; });
    };
    size_t at = 0;
    for (const PoolPart &part : parts) {
        if (!object_ids.contains(part.object_id) || !is_zero(at, part.offset))
            return false;
        at = static_cast<size_t>(part.entries.data() + part.entries.size() - section.data());
    }
    return !parts.empty() && is_zero(at, section.size());
}

} // namespace btflink
