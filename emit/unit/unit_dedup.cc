// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds equal types inside one contribution.
//
// Problem. Compilers repeat types inside one unit (such as pointers and arrays), and units that are
// encoded together repeat nearly all. Equal types must become one. Types that only look equal must
// stay separate: a unit may have two structs of one name, in two functions.
//
// Method. Types with equal stub hashes form a block, so equal types are in one block. (Exception:
// cyclic types for which cycle_hashes() took too long remain several types.) The partition into
// these blocks is the result unless a struct or union name has two different definitions, or a
// definition and a forward declaration. In that case it is refined (common/graph/graphs.h) until
// types of one block refer to types of the same blocks.
//
// Cost. Linear, and linear again for each round of the refinement. There are at most as many rounds
// as blocks; none if no name has such a conflict.
#include "emit/unit/unit_passes.h"

#include "common/graph/graphs.h"
#include "common/graph/tables.h"

#include <numeric>
#include <string>

namespace btflink::emit
{

namespace
{

using Blocks = std::vector<uint32_t>;     // of the partition, by id
constexpr uint32_t no_block = UINT32_MAX; // of void

class Deduplicator
{
public:
    Deduplicator(const Btf &types, const std::vector<Hash128> &hashes)
        : types_(types), hashes_(hashes), end_(raw(types.end_id()))
    {
    }

    UnitDedup run()
    {
        Blocks blocks(end_, no_block);
        size_t count = classify(blocks);
        UnitDedup out;
        if (has_conflicts(out.ambiguous)) {
            std::vector<uint32_t> ids(end_ - 1);
            std::iota(ids.begin(), ids.end(), 1u);
            count = refine<VectorIndex<>>(
                ids, blocks, count, [&](uint32_t id, std::vector<uint32_t> &key) {
                    btf::for_each_type_id(types_.type(TypeId{id}),
                                          [&](uint32_t ref) { key.push_back(blocks[ref]); });
                });
        }
        std::vector<TypeId> first(count, void_id);
        out.representative.assign(end_, void_id);
        for (uint32_t id = 1; id < end_; ++id) {
            TypeId &owner = first[blocks[id]];
            if (owner == void_id)
                owner = TypeId{id};
            out.representative[id] = owner;
            out.has_duplicates |= owner != TypeId{id};
        }
        return out;
    }

private:
    /// Sets the block of each type: the number of its stub hash, in the order of first occurrence.
    /// Returns the number of blocks.
    size_t classify(Blocks &blocks) const
    {
        FlatIndex seen(end_);
        uint32_t count = 0;
        for (uint32_t id = 1; id < end_; ++id) {
            const Hash128 &hash = hashes_[id - 1];
            auto [first, is_new] = seen.find_or_add(
                hash.low, id, [&](uint32_t other) { return hashes_[other - 1] == hash; });
            blocks[id] = is_new ? count++ : blocks[first];
        }
        return count;
    }

    /// Returns true if stub hashes alone are not sufficient. Adds names with different definitions
    /// to `ambiguous`.
    bool has_conflicts(std::vector<std::string> &ambiguous) const
    {
        struct Name {
            uint64_t key = 0;
            uint32_t definition = 0;
            bool forward = false, several = false;
        };
        std::vector<Name> names;
        FlatIndex by_name(512); // two keys per string: for structs, for unions
        bool conflicts = false;
        for (uint32_t id = 1; id < end_; ++id) {
            const btf_type &t = types_.type(TypeId{id});
            const char stub = t.name_off ? reference_letter(types_, TypeId{id}) : 0;
            if (!stub)
                continue;
            // Equal strings have the same offset.
            const uint64_t key = uint64_t{t.name_off} << 1 | (stub == 'U');
            auto [n, is_new] =
                by_name.find_or_add(key * 0x9e3779b97f4a7c15, static_cast<uint32_t>(names.size()),
                                    [&](uint32_t other) { return names[other].key == key; });
            if (is_new)
                names.push_back({key});
            Name &name = names[n];
            if (btf::kind_of(t) == btf::Kind::FWD) {
                name.forward = true;
            } else if (!name.definition) {
                name.definition = id;
            } else if (hashes_[name.definition - 1] != hashes_[id - 1] && !name.several) {
                name.several = true;
                ambiguous.emplace_back(types_.str(t.name_off));
            }
            conflicts |= name.several || (name.forward && name.definition);
        }
        return conflicts;
    }

    const Btf &types_;
    const std::vector<Hash128> &hashes_;
    uint32_t end_;
};

} // namespace

UnitDedup find_duplicates(const Btf &types, const std::vector<Hash128> &hashes)
{
    return Deduplicator(types, hashes).run();
}

} // namespace btflink::emit
