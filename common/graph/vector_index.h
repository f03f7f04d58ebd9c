// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Numbers vectors of words: a hash table with open addressing, in a few flat arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace btflink
{

/// Vectors of words as keys of a map to numbers 0, 1, ... `used_bits`: of hashes; tests leave few,
/// so that hashes collide.
template <uint64_t used_bits = UINT64_MAX>
class VectorIndex
{
public:
    static constexpr uint32_t none = UINT32_MAX;

    VectorIndex() : slots_(64) {}

    /// The number of `key`, and whether it is new.
    std::pair<uint32_t, bool> add(std::span<const uint32_t> key)
    {
        uint64_t hash = hash_of(key);
        size_t i = place(hash, key);
        if (slots_[i].number != none)
            return {slots_[i].number, false};
        auto number = static_cast<uint32_t>(ends_.size());
        words_.insert(words_.end(), key.begin(), key.end());
        ends_.push_back(words_.size());
        slots_[i] = {hash, number};
        if (ends_.size() * 2 > slots_.size())
            grow();
        return {number, true};
    }

    /// The number of `key`; none: it was not added.
    uint32_t find(std::span<const uint32_t> key) const
    {
        return slots_[place(hash_of(key), key)].number;
    }

    std::span<const uint32_t> at(uint32_t number) const
    {
        size_t begin = number ? ends_[number - 1] : 0;
        return {words_.data() + begin, ends_[number] - begin};
    }
    size_t size() const { return ends_.size(); }

private:
    struct Slot {
        uint64_t hash = 0;
        uint32_t number = none;
    };

    static uint64_t hash_of(std::span<const uint32_t> key)
    {
        return XXH3_64bits(key.data(), key.size_bytes()) & used_bits;
    }

    /// The slot of the key, or a free one for it.
    size_t place(uint64_t hash, std::span<const uint32_t> key) const
    {
        size_t mask = slots_.size() - 1, i = hash & mask;
        while (slots_[i].number != none &&
               !(slots_[i].hash == hash && std::ranges::equal(at(slots_[i].number), key)))
            i = (i + 1) & mask;
        return i;
    }

    void grow()
    {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        size_t mask = slots_.size() - 1;
        for (const Slot &slot : old) {
            if (slot.number == none)
                continue;
            size_t i = slot.hash & mask;
            while (slots_[i].number != none)
                i = (i + 1) & mask;
            slots_[i] = slot;
        }
    }

    std::vector<Slot> slots_;
    std::vector<uint32_t> words_;
    std::vector<size_t> ends_;
};

} // namespace btflink
