// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Hash tables without allocation per entry and without removal. OpenTable is one flat array with
// open addressing, whose slots the user defines. FlatIndex and VectorIndex are built on OpenTable.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace btflink
{

/// `Slot` has is_free(), true for a new slot, and home(), a hash whose low bits are used. When more
/// than half of the slots would be filled, the number of slots is multiplied by `growth`, a power
/// of two.
template <typename Slot, size_t growth = 2>
class OpenTable
{
public:
    /// `slots`: rounded up to a power of two.
    explicit OpenTable(size_t slots) : slots_(std::bit_ceil(slots)) {}

    /// The slot for which same(slot) holds, or else the free slot where such an entry belongs. The
    /// search begins at `home`; same() is also called for slots with other homes.
    template <typename Same>
    [[gnu::always_inline]] const Slot &find(uint64_t home, Same same) const
    {
        const size_t mask = slots_.size() - 1;
        for (size_t i = home & mask;; i = (i + 1) & mask)
            if (slots_[i].is_free() || same(slots_[i]))
                return slots_[i];
    }

    /// The same, but if the slot is free, fills it with make(), and .second is true. The pointer is
    /// valid until the next find_or_add().
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

/// A hash index of numbered items that are stored elsewhere.
class FlatIndex
{
public:
    /// `expected`: this many entries fit before the index has to grow.
    explicit FlatIndex(size_t expected) : table_(expected * 2 + 2) {}

    /// The number of the item with this hash for which same(number) holds. If there is none, adds
    /// `fresh` (less than UINT32_MAX), and .second is true. same() is also called for some items
    /// with other hashes.
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
    static constexpr uint32_t none = UINT32_MAX; // `number - 1` of a free slot

private:
    struct Slot {
        uint32_t key = 0;
        uint32_t number = 0; // the item's number + 1; 0: free

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

/// Gives different vectors of words the numbers 0, 1, ... in the order in which they are added.
/// `used_bits`: a mask for hashes; tests use few bits, so that hashes collide.
template <uint64_t used_bits = UINT64_MAX>
class VectorIndex
{
public:
    static constexpr uint32_t none = FlatIndex::none;

    /// The number of `key`, and whether it is new.
    std::pair<uint32_t, bool> add(std::span<const uint32_t> key)
    {
        auto fresh = static_cast<uint32_t>(ends_.size());
        auto found = numbers_.find_or_add(hash_of(key), fresh, is(key));
        if (found.second) {
            words_.insert(words_.end(), key.begin(), key.end());
            ends_.push_back(words_.size());
        }
        return found;
    }

    /// The number of `key`, or none if it was not added.
    uint32_t find(std::span<const uint32_t> key) const
    {
        return numbers_.find(hash_of(key), is(key));
    }

    std::span<const uint32_t> at(uint32_t number) const
    {
        size_t begin = number ? ends_[number - 1] : 0;
        return {words_.data() + begin, ends_[number] - begin};
    }
    size_t size() const { return ends_.size(); }

private:
    static uint64_t hash_of(std::span<const uint32_t> key)
    {
        return XXH3_64bits(key.data(), key.size_bytes()) & used_bits;
    }

    auto is(std::span<const uint32_t> key) const
    {
        return [this, key](uint32_t number) { return std::ranges::equal(at(number), key); };
    }

    FlatIndex numbers_{31};
    std::vector<uint32_t> words_;
    std::vector<size_t> ends_;
};

} // namespace btflink
