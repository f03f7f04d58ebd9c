// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Hashes types on cycles without a named struct or union, and types that reach such a cycle.
//
// Problem. The hash of a type covers the hashes of the types it refers to. On a cycle without a
// named struct or union, a hash would have to cover itself. If the cycle were cut where a walk
// meets itself, the hash would depend on where the walk began: equal types of two objects would get
// different hashes.
//
// Method. First, partition refinement divides the types into blocks. Types of one block have equal
// contents and refer to the same blocks in the same order. Then a walk from each block numbers all
// blocks that it reaches. The hash of the first block covers, for each block in the walk, its
// contents and the numbers of the blocks to which it refers. Example: function type F has one
// parameter, a pointer P to F. In the walk from F, F is number 0 and P is number 1. The hash of F
// covers: contents of F, 1, contents of P, 0.
//
// Correctness. Types that are the same at any depth are in one block, and walks from such types in
// two blobs meet the same blocks in the same order. Equal walks describe equal graphs, so the
// hashed data of different types differ.
//
// Cost. Types times rounds, plus blocks times the blocks that each reaches. Both are counted, up to
// a limit. Beyond the limit, a hash covers all types and their order.
#include "common/object_btf/type_hash.h"

#include "common/graph/graphs.h"
#include "common/graph/tables.h"
#include "common/object_btf/digest.h"

#include <map>
#include <numeric>

namespace btflink
{

namespace
{

constexpr size_t max_steps = size_t{1} << 22; // some 0.1 s

/// Per type: its block when no block needs to be split any more, or when `steps` reaches max_steps.
std::vector<uint32_t> coarsest_blocks(const std::vector<std::vector<uint32_t>> &refs,
                                      const std::vector<Hash128> &own, size_t &steps)
{
    std::map<std::pair<uint64_t, uint64_t>, uint32_t> numbers; // of blocks
    std::vector<uint32_t> block, types(own.size());
    std::iota(types.begin(), types.end(), 0);
    for (const Hash128 &h : own)
        block.push_back(
            numbers.emplace(std::pair(h.low, h.high), static_cast<uint32_t>(numbers.size()))
                .first->second);
    refine<VectorIndex<>>(
        types, block, numbers.size(),
        [&](uint32_t type, std::vector<uint32_t> &key) {
            for (uint32_t r : refs[type])
                key.push_back(block[r]);
            steps += key.size();
        },
        [&] { return steps < max_steps; });
    return block;
}

/// The hashes beyond the limit. Only blobs with the same types in the same order get equal hashes.
std::vector<Hash128> hashes_in_order(const std::vector<std::vector<uint32_t>> &refs,
                                     const std::vector<Hash128> &own)
{
    Digest digest;
    for (size_t i = 0; i < own.size(); ++i) {
        digest.hash(own[i]);
        for (uint32_t r : refs[i])
            digest.word(r);
    }
    const Hash128 all = digest.finish();
    std::vector<Hash128> hashes;
    for (uint32_t i = 0; i < own.size(); ++i) {
        digest.hash(all);
        digest.word(i);
        hashes.push_back(digest.finish());
    }
    return hashes;
}

} // namespace

std::vector<Hash128> cycle_hashes(const std::vector<std::vector<uint32_t>> &refs,
                                  const std::vector<Hash128> &own)
{
    constexpr uint32_t none = UINT32_MAX;
    size_t steps = 0;
    std::vector<uint32_t> block = coarsest_blocks(refs, own, steps);
    std::vector<Hash128> hashes(own.size());
    std::vector<uint32_t> representative(own.size(), none); // per block: a type
    std::vector<uint32_t> number(own.size(), none);         // per block: its place in the walk
    std::vector<uint32_t> order;                            // the walk: a type of each block
    Digest digest;
    for (uint32_t i = 0; i < own.size(); ++i) {
        if (representative[block[i]] != none) {
            hashes[i] = hashes[representative[block[i]]];
            continue;
        }
        representative[block[i]] = i;
        order.assign(1, i);
        number[block[i]] = 0;
        for (size_t at = 0; at < order.size() && steps < max_steps; ++at) {
            digest.hash(own[order[at]]);
            for (uint32_t r : refs[order[at]]) {
                uint32_t &n = number[block[r]];
                if (n == none) {
                    n = static_cast<uint32_t>(order.size());
                    order.push_back(r);
                }
                digest.word(n);
            }
            steps += 5 + refs[order[at]].size();
        }
        if (steps >= max_steps)
            return hashes_in_order(refs, own);
        for (uint32_t t : order)
            number[block[t]] = none;
        hashes[i] = digest.finish();
    }
    return hashes;
}

} // namespace btflink
