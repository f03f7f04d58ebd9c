// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes and finds address pools. An object's pool has the form of a contribution to `.debug_addr`
// (DWARF 5, section 7.27). The first 8 bytes of the entries are the object id. After the link, the
// other entries are the final addresses of the object's variables and functions. See
// common/FORMAT.md, 5.
#pragma once

#include "common/io/bytes.h"

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace btflink
{

/// The section for pools is DWARF 1's: every linker script places it, other tools ignore it, and
/// `strip --strip-debug` drops it.
constexpr std::string_view pool_section = ".debug";

/// Is this the name of the section for pools? In GNU's older compression scheme, it may begin with
/// .z.
constexpr bool is_pool_section(std::string_view section)
{
    return section == pool_section || section == ".zdebug";
}

/// Byte offset of entry `index` in a pool; relocations are put there. `index` is 1-based.
constexpr uint64_t pool_entry_offset(uint32_t index, uint8_t address_size)
{
    return 8 /* contribution header */ + 8 /* object id */ + uint64_t{index - 1} * address_size;
}

/// A pool whose addresses are all 0; relocations will fill them in. `entries`: the number of
/// addresses. A spare one follows if the length of the pool would not be a multiple of 8.
std::vector<std::byte> encode_pool(uint64_t object_id, uint32_t entries, uint8_t address_size,
                                   ByteOrder order);

/// A pool in a section.
struct PoolPart {
    uint64_t object_id;
    uint64_t offset; // of the pool, in the section
    Bytes entries;   // after the id
    uint8_t address_size;
    ByteOrder order;

    uint32_t count() const { return static_cast<uint32_t>(entries.size() / address_size); }
    /// `index` is 1-based and at most count().
    uint64_t address(uint32_t index) const;
};

/// All pools, in section order. Stops without an error where anything but a pool or zeros begins.
std::vector<PoolPart> find_pools(Bytes section, ByteOrder order);

/// Does the section have at least one pool, and nothing but pools of these objects and zeros?
bool is_only_pools(Bytes section, ByteOrder order, const std::set<uint64_t> &object_ids);

} // namespace btflink
