// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Numbers vectors of words, stored in a few flat arrays.
#pragma once

#include "common/graph/flat_index.h"

#include <algorithm>
#include <span>
#include <xxhash.h>

namespace btflink
{

/// Maps vectors of words to numbers 0, 1, ... `used_bits`: of hashes; tests use few, so that hashes
/// collide.
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
