// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The hash table behind all other tables: open addressing in one flat array, no allocation per
// entry, no removal. Users define the slots; most use FlatIndex or VectorIndex.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace btflink
{

/// `Slot` has is_free(), true for a new slot, and home(), a hash whose low bits are used. When half
/// of the slots are filled, their number is multiplied by `growth`.
template <typename Slot, size_t growth = 2>
class OpenTable
{
public:
    /// `slots`: rounded up to a power of two.
    explicit OpenTable(size_t slots) : slots_(std::bit_ceil(slots)) {}

    /// The slot with this home for which same(slot) holds, or else the free slot for it.
    template <typename Same>
    [[gnu::always_inline]] const Slot &find(uint64_t home, Same same) const
    {
        const size_t mask = slots_.size() - 1;
        for (size_t i = home & mask;; i = (i + 1) & mask)
            if (slots_[i].is_free() || same(slots_[i]))
                return slots_[i];
    }

    /// The same, but fills a free slot with make(); then .second is true. The slot does not move
    /// before the next call.
    template <typename Same, typename Make>
    [[gnu::always_inline]] std::pair<Slot *, bool> find_or_add(uint64_t home, Same same, Make make)
    {
        auto *slot = const_cast<Slot *>(&find(home, same));
        if (!slot->is_free())
            return {slot, false};
        if ((used_ + 1) * 2 > slots_.size()) {
            grow();
            slot = const_cast<Slot *>(&free_slot(home));
        }
        *slot = make();
        ++used_;
        return {slot, true};
    }

    void prefetch(uint64_t home) const { __builtin_prefetch(&slots_[home & (slots_.size() - 1)]); }

private:
    const Slot &free_slot(uint64_t home) const
    {
        return find(home, [](const Slot &) { return false; });
    }

    void grow()
    {
        std::vector<Slot> old(slots_.size() * growth);
        old.swap(slots_);
        for (const Slot &slot : old)
            if (!slot.is_free())
                const_cast<Slot &>(free_slot(slot.home())) = slot;
    }

    std::vector<Slot> slots_;
    size_t used_ = 0;
};

} // namespace btflink
