// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A hash index of numbered items that are stored elsewhere. Items cannot be removed.
#pragma once

#include "common/graph/open_table.h"

namespace btflink
{

class FlatIndex
{
public:
    /// `expected`: the number of entries before the index has to grow.
    explicit FlatIndex(size_t expected) : table_(expected * 2 + 2) {}

    /// The number of the item with this hash for which same(number) holds. If there is none, adds
    /// `fresh` (less than UINT32_MAX), and .second is true.
    template <typename Same>
    std::pair<uint32_t, bool> find_or_add(uint64_t hash, uint32_t fresh, Same same)
    {
        const uint32_t key = key_of(hash);
        auto make = [&] { return Slot{key, fresh + 1}; };
        auto [slot, is_new] = table_.find_or_add(key, matches(key, same), make);
        return {slot->number - 1, is_new};
    }

    /// The number of the item with this hash for which same(number) holds, or `none`.
    template <typename Same>
    uint32_t find(uint64_t hash, Same same) const
    {
        const uint32_t key = key_of(hash);
        return table_.find(key, matches(key, same)).number - 1;
    }
    static constexpr uint32_t none = UINT32_MAX;

    /// Prefetches the slot where a look-up of this hash begins.
    void prefetch(uint64_t hash) const { table_.prefetch(key_of(hash)); }

private:
    struct Slot {
        uint32_t key = 0;
        uint32_t number = 0; // + 1; 0: free

        bool is_free() const { return number == 0; }
        uint32_t home() const { return key; }
    };

    static uint32_t key_of(uint64_t hash) { return static_cast<uint32_t>(hash ^ hash >> 32); }
    template <typename Same>
    static auto matches(uint32_t key, Same &same)
    {
        return [key, &same](const Slot &slot) { return slot.key == key && same(slot.number - 1); };
    }

    OpenTable<Slot, 4> table_;
};

} // namespace btflink
