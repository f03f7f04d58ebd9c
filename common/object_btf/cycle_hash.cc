// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The hash of a type covers the hashes of what it refers to; on a cycle there is no first
// one. To cut the cycle where a walk happens to meet itself makes the hash depend on where the walk
// began, and so on the order of types: equal types of two objects then are two.
//
// Method. First the types are told apart, as in minimising an automaton: colours by their own
// contents, then by the colours of what they refer to, until nothing splits. Then each colour's
// hash is that of all it reaches, colour by colour in the order of a walk: contents, and numbers in
// that order for references.
//
// Why it is right. What is the same as deep as one looks gets one colour, and the walks from the
// same types in two blobs meet the same colours in the same order. A walk that reads the same
// describes the same graph, so different types differ in what is hashed.
//
// Cost. Types times rounds, and colours times what each reaches; both are counted, and given up.
#include "common/object_btf/cycle_hash.h"

#include <map>
#include <xxhash.h>

namespace btflink
{

namespace
{

constexpr size_t max_steps = size_t{1} << 22; // some 0.1 s

std::vector<uint32_t> coarsest_colours(const std::vector<std::vector<uint32_t>> &refs,
                                       const std::vector<Hash128> &own, size_t &steps)
{
    std::map<std::pair<uint64_t, uint64_t>, uint32_t> first;
    std::vector<uint32_t> colour, key;
    for (const Hash128 &h : own)
        colour.push_back(
            first.emplace(std::pair(h.low, h.high), static_cast<uint32_t>(first.size()))
                .first->second);
    for (size_t count = first.size(), last = 0; count != last && steps < max_steps;) {
        last = count;
        std::map<std::vector<uint32_t>, uint32_t> split;
        std::vector<uint32_t> next;
        for (size_t i = 0; i < refs.size(); ++i) {
            key.assign(1, colour[i]);
            for (uint32_t r : refs[i])
                key.push_back(colour[r]);
            next.push_back(split.emplace(key, static_cast<uint32_t>(split.size())).first->second);
            steps += key.size();
        }
        colour.swap(next);
        count = split.size();
    }
    return colour;
}

/// Gathers little-endian words.
class Words
{
public:
    void add(uint32_t value) { words_.push_back(in_order(value, ByteOrder::little)); }
    void add(const Hash128 &h)
    {
        for (uint64_t half : {h.low, h.high}) {
            add(static_cast<uint32_t>(half));
            add(static_cast<uint32_t>(half >> 32));
        }
    }
    Hash128 finish()
    {
        XXH128_hash_t h = XXH3_128bits(words_.data(), words_.size() * 4);
        words_.clear();
        return {h.low64, h.high64};
    }

private:
    std::vector<uint32_t> words_;
};

} // namespace

std::vector<Hash128> cycle_hashes(const std::vector<std::vector<uint32_t>> &refs,
                                  const std::vector<Hash128> &own)
{
    constexpr uint32_t none = UINT32_MAX;
    size_t steps = 0;
    std::vector<uint32_t> colour = coarsest_colours(refs, own, steps);
    std::vector<Hash128> hashes(own.size());
    std::vector<uint32_t> leader(own.size(), none); // per colour: a type
    std::vector<uint32_t> number(own.size(), none); // per colour: its place in the walk
    std::vector<uint32_t> order;                    // the walk: a type of each colour
    Words words;
    for (uint32_t i = 0; i < own.size(); ++i) {
        if (leader[colour[i]] != none) {
            hashes[i] = hashes[leader[colour[i]]];
            continue;
        }
        leader[colour[i]] = i;
        order.assign(1, i);
        number[colour[i]] = 0;
        for (size_t at = 0; at < order.size() && steps < max_steps; ++at) {
            words.add(own[order[at]]);
            for (uint32_t r : refs[order[at]]) {
                uint32_t &n = number[colour[r]];
                if (n == none) {
                    n = static_cast<uint32_t>(order.size());
                    order.push_back(r);
                }
                words.add(n);
            }
            steps += 5 + refs[order[at]].size();
        }
        if (steps >= max_steps)
            return {};
        for (uint32_t t : order)
            number[colour[t]] = none;
        hashes[i] = words.finish();
    }
    return hashes;
}

} // namespace btflink
