// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A hash index of things that are kept elsewhere, by number. It only grows.
#pragma once

#include "common/graph/open_table.h"

namespace btflink
{

class FlatIndex
{
public:
    /// `expected`: entries that there is room for before it has to grow.
    explicit FlatIndex(size_t expected) : table_(expected * 2 + 2) {}

    /// The number of the thing with this hash for which same(number) holds. If there is none,
    /// `fresh` (less than UINT32_MAX) becomes that of a new one, and .second is true.
    template <typename Same>
    std::pair<uint32_t, bool> find_or_add(uint64_t hash, uint32_t fresh, Same same)
    {
        const uint32_t key = key_of(hash);
        auto make = [&] { return Slot{key, fresh + 1}; };
        auto [slot, is_new] = table_.find_or_add(key, matches(key, same), make);
        return {slot->number - 1, is_new};
    }

    /// The number of the thing with this hash for which same(number) holds; `none` if there is
    /// none.
    template <typename Same>
    uint32_t find(uint64_t hash, Same same) const
    {
        const uint32_t key = key_of(hash);
        return table_.find(key, matches(key, same)).number - 1;
    }
    static constexpr uint32_t none = UINT32_MAX;

    /// Fetches the place where a look-up of this hash begins.
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
