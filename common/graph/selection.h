// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A subset of numbered items, with a numbering of its members without gaps.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace btflink
{

class Selection
{
public:
    /// An empty subset of 0..size-1.
    explicit Selection(size_t size = 0) : bits_(size / 64 + 1), before_(bits_.size()) {}

    void set(uint32_t i, bool chosen)
    {
        uint64_t bit = uint64_t{1} << i % 64, &word = bits_[i / 64];
        word = chosen ? word | bit : word & ~bit;
    }
    /// Numbers the members. Call it before rank() and count().
    void number()
    {
        count_ = 0;
        for (size_t w = 0; w < bits_.size(); ++w) {
            before_[w] = count_;
            count_ += ones(bits_[w]);
        }
    }

    bool has(uint32_t i) const { return bits_[i / 64] >> i % 64 & 1; }
    /// The number of members before `i`.
    uint32_t rank(uint32_t i) const
    {
        return before_[i / 64] + ones(bits_[i / 64] & ((uint64_t{1} << i % 64) - 1));
    }
    /// The number of members.
    uint32_t count() const { return count_; }
    /// Calls visit(i) for each member, in order.
    template <typename Visit>
    void for_each(Visit visit) const
    {
        for (size_t w = 0; w < bits_.size(); ++w)
            for (uint64_t rest = bits_[w]; rest; rest &= rest - 1)
                visit(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(rest))));
    }

private:
    /// std::popcount() is a function call for processors that may lack the instruction.
    static uint32_t ones(uint64_t x)
    {
        x -= x >> 1 & 0x5555555555555555;
        x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
        x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
        return static_cast<uint32_t>(x * 0x0101010101010101 >> 56);
    }

    std::vector<uint64_t> bits_;
    std::vector<uint32_t> before_; // per word: members in the words before it
    uint32_t count_ = 0;
};

} // namespace btflink
