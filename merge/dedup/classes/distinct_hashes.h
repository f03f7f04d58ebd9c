// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// A table of distinct stub hashes, and the lowest type with each.
#pragma once

#include "common/graph/open_table.h"
#include "common/object_btf/hash_slot.h"
#include "merge/dedup/classes/stub_equal.h"
#include "merge/dedup/hash_bits.h"
#include "merge/dedup/ids.h"

namespace btflink::merge
{

inline bool same_types(const Sources &sources, TypeAt a, TypeAt b)
{
    return trust_hashes || stub_equal(sources, a, b);
}

/// A distinct hash, and the first type with this hash.
struct Distinct {
    Hash128 hash; // reduced to the bits in use, see visible()
    TypeAt first;
};

/// Distinct hashes in order of arrival, numbered as classes. Slots contain whole hashes, so a
/// look-up takes one memory access.
class DistinctHashes
{
public:
    explicit DistinctHashes(const Sources &sources) : sources_(sources) {}

    void prefetch(const Hash128 &hash) const { slots_.prefetch(hash.low); }

    /// The entry with this hash, which is added if it is new.
    [[gnu::always_inline]] ClassId add(const Hash128 &hash, TypeAt type)
    {
        auto same = [&](const HashSlot &slot) {
            return slot.hash == hash &&
                   same_types(sources_, entries_[ClassId{slot.entry - 1}].first, type);
        };
        auto make = [&] {
            entries_.push_back({hash, type});
            return HashSlot{hash, static_cast<uint32_t>(entries_.size())};
        };
        return ClassId{slots_.find_or_add(hash.low, same, make).first->entry - 1};
    }

    /// The entry with this hash, or none.
    ClassId find(const Hash128 &hash, TypeAt type) const
    {
        auto same = [&](const HashSlot &slot) {
            return slot.hash == hash &&
                   same_types(sources_, entries_[ClassId{slot.entry - 1}].first, type);
        };
        const HashSlot &slot = slots_.find(hash.low, same);
        return slot.is_free() ? ClassId::none : ClassId{slot.entry - 1};
    }

    const IdVector<ClassId, Distinct> &entries() const { return entries_; }

private:
    const Sources &sources_;
    IdVector<ClassId, Distinct> entries_;
    OpenTable<HashSlot> slots_{4096};
};

} // namespace btflink::merge
