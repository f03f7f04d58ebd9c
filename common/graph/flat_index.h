// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds numbers (of things that somebody else keeps) by hash: one flat array, no allocation per
// entry. For tables that only grow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace btflink
{

class FlatIndex
{
public:
    /// `expected`: entries that there is room for before it has to grow.
    explicit FlatIndex(size_t expected) : slots_(std::bit_ceil(expected * 2 + 2)) {}

    /// The number of the thing with this hash for which same(number) holds. If there is none,
    /// `fresh` (less than UINT32_MAX) becomes that of a new one, and .second is true.
    template <typename Same>
    std::pair<uint32_t, bool> find_or_add(uint64_t hash, uint32_t fresh, Same same)
    {
        if ((used_ + 1) * 2 > slots_.size())
            grow();
        const auto key = static_cast<uint32_t>(hash ^ hash >> 32);
        const size_t mask = slots_.size() - 1;
        for (size_t i = key & mask;; i = (i + 1) & mask) {
            Slot &slot = slots_[i];
            if (slot.number == 0) {
                slot = {key, fresh + 1};
                ++used_;
                return {fresh, true};
            }
            if (slot.key == key && same(slot.number - 1))
                return {slot.number - 1, false};
        }
    }

    /// The number of the thing with this hash for which same(number) holds; `none` if there is
    /// none.
    template <typename Same>
    uint32_t find(uint64_t hash, Same same) const
    {
        const auto key = static_cast<uint32_t>(hash ^ hash >> 32);
        const size_t mask = slots_.size() - 1;
        for (size_t i = key & mask; slots_[i].number; i = (i + 1) & mask)
            if (slots_[i].key == key && same(slots_[i].number - 1))
                return slots_[i].number - 1;
        return none;
    }
    static constexpr uint32_t none = UINT32_MAX;

private:
    struct Slot {
        uint32_t key = 0;
        uint32_t number = 0; // + 1; 0: free
    };

    void grow()
    {
        std::vector<Slot> old(slots_.size() * 4);
        old.swap(slots_);
        const size_t mask = slots_.size() - 1;
        for (const Slot &slot : old) {
            if (slot.number == 0)
                continue;
            size_t i = slot.key & mask;
            while (slots_[i].number)
                i = (i + 1) & mask;
            slots_[i] = slot;
        }
    }

    std::vector<Slot> slots_;
    size_t used_ = 0;
};

} // namespace btflink
