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
#include "emit/unit_dedup.h"

#include <bit>
#include <string>
#include <unordered_map>
#include <xxhash.h>

namespace btflink::emit
{

namespace
{

/// Numbers hashes by first appearance, from 1: a flat table, for there is one look-up per type.
class Numbering
{
public:
    explicit Numbering(size_t most) : slots_(std::bit_ceil(most * 2 + 2)) {}

    uint32_t number(const Hash128 &hash)
    {
        size_t mask = slots_.size() - 1;
        for (size_t i = hash.low & mask;; i = (i + 1) & mask) {
            if (slots_[i].number == 0)
                slots_[i] = {hash, ++count_};
            if (slots_[i].hash == hash)
                return slots_[i].number;
        }
    }
    uint32_t count() const { return count_; }

private:
    struct Slot {
        Hash128 hash;
        uint32_t number = 0;
    };
    std::vector<Slot> slots_;
    uint32_t count_ = 0;
};

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
        Numbering seen(end_);
        for (uint32_t id = 1; id < end_; ++id)
            classes[id] = seen.number(hashes_[id - 1]);
        size_t count = seen.count();
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
    /// True if stub hashes alone do not decide. Lists names with several definitions.
    bool has_conflicts(std::vector<std::string> &ambiguous) const
    {
        struct Name {
            const Hash128 *definition = nullptr;
            bool forward = false, several = false;
        };
        std::unordered_map<std::string_view, Name> names[2]; // of structs, of unions
        bool conflicts = false;
        for (uint32_t id = 1; id < end_; ++id) {
            uint32_t kind = types_.kind(TypeId{id});
            std::string_view text = types_.name(TypeId{id});
            if ((kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION && kind != BTF_KIND_FWD) ||
                text.empty())
                continue;
            bool is_union = kind == BTF_KIND_UNION ||
                            (kind == BTF_KIND_FWD && btf::kflag_of(types_.type(TypeId{id})));
            Name &name = names[is_union][text];
            if (kind == BTF_KIND_FWD) {
                name.forward = true;
            } else if (!name.definition) {
                name.definition = &hashes_[id - 1];
            } else if (*name.definition != hashes_[id - 1] && !name.several) {
                name.several = true;
                ambiguous.emplace_back(text);
            }
            conflicts |= name.several || (name.forward && name.definition);
        }
        return conflicts;
    }

    /// One round; returns the number of classes.
    size_t refine(Classes &classes) const
    {
        Classes next(end_);
        Numbering seen(end_);
        std::vector<uint32_t> words;
        for (uint32_t id = 1; id < end_; ++id) {
            const btf_type &t = types_.type(TypeId{id});
            words.assign(1, classes[id]);
            btf::for_each_type_id(t, [&](uint32_t ref) { words.push_back(classes[ref]); });
            XXH128_hash_t h = XXH3_128bits(words.data(), words.size() * sizeof words[0]);
            next[id] = seen.number({h.low64, h.high64});
        }
        classes.swap(next);
        return seen.count();
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
