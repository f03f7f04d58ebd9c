// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The types to be deduplicated: the base's, then those of each object, in one numbering.
#pragma once

#include "merge/input/prune_base.h"

#include <memory>
#include <vector>

namespace btflink::merge
{

/// A type of one source.
struct TypeAt {
    uint32_t source = 0;
    TypeId type{};

    bool operator==(const TypeAt &) const = default;
    auto operator<=>(const TypeAt &) const = default; // link order
};

/// The plain types of a base or an object.
struct Source {
    const Btf *btf;
    const std::byte *hashes;       // of its types, as in a link trailer; at least `count`
    const Selection *hashed;       // if not null: hashes are of these only, by id - 1
    uint32_t count;                // ids 1..count may be plain types
    const std::vector<bool> *skip; // by id - 1: these are not, or not wanted; null: all are
    size_t offset;                 // number of its type 1 in the numbering of all types

    /// By id - 1.
    Hash128 hash(uint32_t i) const
    {
        if (hashed)
            i = hashed->rank(i);
        return {load<uint64_t>(hashes + size_t{i} * 16, ByteOrder::little),
                load<uint64_t>(hashes + size_t{i} * 16 + 8, ByteOrder::little)};
    }
};

/// Base first, if there is one; then the objects that were linked.
struct Sources {
    std::vector<Source> list;
    std::vector<uint32_t> of_object; // source of each object; UINT32_MAX: not linked
    bool has_base = false;
    size_t types = 0; // of all sources
    // Kept for the base.
    std::unique_ptr<const BasePart> base_part = std::make_unique<BasePart>(); // has an address
    std::vector<Hash128> base_hashes; // of what is wanted, as in a link trailer
    std::unique_ptr<const std::vector<bool>> base_skip;
    // If an object's types are found by marks, the deduplication looks at them through its own Btf:
    // which types it looks at depends on which objects count, so it keeps the damage that it finds.
    struct OwnView {
        explicit OwnView(const Btf &of) : btf(of.noting(damage)) {}
        Damage damage;
        Btf btf;
    };
    std::vector<std::unique_ptr<const OwnView>> views; // by object; null: `list` has the object's

    /// Did the deduplication look at a malformed type of this object?
    bool found_damage(size_t object) const
    {
        return views[object] && views[object]->damage.found();
    }
    bool is_base(uint32_t source) const { return has_base && source == 0; }
    size_t index(uint32_t source, TypeId id) const { return list[source].offset + raw(id) - 1; }
    size_t index(TypeAt t) const { return index(t.source, t.type); }
    const btf_type &type(TypeAt t) const { return list[t.source].btf->type(t.type); }
    std::string_view name(TypeAt t) const { return list[t.source].btf->name(t.type); }
    std::string_view str(TypeAt t, uint32_t offset) const
    {
        return list[t.source].btf->str(offset);
    }
    bool is_plain(uint32_t source, TypeId id) const
    {
        const Source &s = list[source];
        return raw(id) - 1 < s.count && !(s.skip && (*s.skip)[raw(id) - 1]);
    }
};

/// `base` may be null. The objects must outlive the result and not move.
Result<Sources> make_sources(const std::vector<Object> &objects,
                             const std::vector<bool> &not_linked, const Btf *base,
                             const Where &base_where);

} // namespace btflink::merge
