// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Compilers repeat types inside one object (pointers, arrays, unqualified copies), and
// several units in one object repeat nearly all. Types that are equal must become one, types that
// only look equal must not: a program may hold two different structs of one name, one per function.
//
// Method. Types start in classes by stub hash: a partition that is never too fine. If no struct or
// union name has two definitions, or a definition and a forward declaration, that partition is
// right already. Otherwise it is refined: in each round a type's class becomes (its own words, the
// classes of what it refers to), until the number of classes stays the same.
//
// Why right: refinement ends at the coarsest partition in which members of a class refer to members
// of equal classes, which is equality of the (infinite) unfolded types. Cost: one round is linear;
// rounds are at most as many as the longest chain of references to a difference, and only objects
// with such names pay.
#include "emit/unit/unit_dedup.h"
#include "common/graph/flat_index.h"

#include <string>
#include <xxhash.h>

namespace btflink::emit
{

namespace
{

using Classes = std::vector<uint32_t>; // class of each id; 0 is void

class Deduplicator
{
public:
    Deduplicator(const Btf &types, const std::vector<Hash128> &hashes)
        : types_(types), hashes_(hashes), end_(raw(types.end_id()))
    {
    }

    UnitDedup run()
    {
        Classes classes(end_);
        size_t count = classify(hashes_, classes);
        UnitDedup out;
        if (has_conflicts(out.ambiguous))
            for (;;) {
                size_t refined = refine(classes);
                if (refined == count)
                    break;
                count = refined;
            }
        std::vector<TypeId> first(count + 1, void_id);
        out.representative.assign(end_, void_id);
        for (uint32_t id = 1; id < end_; ++id) {
            TypeId &owner = first[classes[id]];
            if (owner == void_id)
                owner = TypeId{id};
            out.representative[id] = owner;
            out.any |= owner != TypeId{id};
        }
        return out;
    }

private:
    /// Numbers types by their hashes' first appearance, from 1; returns how many there are.
    size_t classify(const std::vector<Hash128> &hashes, Classes &classes) const
    {
        FlatIndex seen(end_);
        uint32_t count = 0;
        for (uint32_t id = 1; id < end_; ++id) {
            const Hash128 &hash = hashes[id - 1];
            auto [first, is_new] = seen.find_or_add(
                hash.low, id, [&](uint32_t other) { return hashes[other - 1] == hash; });
            classes[id] = is_new ? ++count : classes[first];
        }
        return count;
    }

    /// True if stub hashes alone do not decide. Lists names with several definitions.
    bool has_conflicts(std::vector<std::string> &ambiguous) const
    {
        struct Name {
            uint64_t key = 0;
            uint32_t definition = 0;
            bool forward = false, several = false;
        };
        std::vector<Name> names;
        FlatIndex by_name(512); // two per string: of structs, of unions
        bool conflicts = false;
        for (uint32_t id = 1; id < end_; ++id) {
            const char stub = stub_class(types_, TypeId{id});
            const btf_type &t = types_.type(TypeId{id});
            if (!stub || t.name_off == 0)
                continue;
            // Equal strings are at one offset.
            const uint64_t key = uint64_t{t.name_off} << 1 | (stub == 'U');
            auto [n, is_new] =
                by_name.find_or_add(key * 0x9e3779b97f4a7c15, static_cast<uint32_t>(names.size()),
                                    [&](uint32_t other) { return names[other].key == key; });
            if (is_new)
                names.push_back({key});
            Name &name = names[n];
            if (btf::kind_of(t) == BTF_KIND_FWD) {
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

    /// One round; returns the number of classes.
    size_t refine(Classes &classes) const
    {
        std::vector<Hash128> hashes(end_ - 1);
        std::vector<uint32_t> words;
        for (uint32_t id = 1; id < end_; ++id) {
            const btf_type &t = types_.type(TypeId{id});
            words.assign(1, classes[id]);
            btf::for_each_type_id(t, [&](uint32_t ref) { words.push_back(classes[ref]); });
            XXH128_hash_t h = XXH3_128bits(words.data(), words.size() * sizeof words[0]);
            hashes[id - 1] = {h.low64, h.high64};
        }
        return classify(hashes, classes);
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
