// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An index of a base: what a module asks of it, found without a look at the whole base. FORMAT.md
// specifies the bytes; make_index.h makes them.
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/type_hash.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace btflink::merge
{

class BaseIndex;

/// What bytes are that may be an index of certain BTF.
struct IndexState {
    bool fits = false;                      // they are undamaged, and of that BTF
    std::shared_ptr<const BaseIndex> index; // null, though they fit: that BTF cannot have one
};

struct ArrayCounts; // see input/array_form.h

class BaseIndex
{
public:
    /// An index of the BTF that is `blob`, from `bytes`, which must be aligned to 8 bytes and stay
    /// where they are as long as `owner` lives. All bytes of both are looked at.
    static IndexState open(Bytes bytes, Bytes blob, std::shared_ptr<const void> owner);

    /// The BTF that it was opened for. Its types are checked as they are asked for.
    const std::shared_ptr<const Btf> &btf() const { return btf_; }
    /// Was something found that cannot be in an index of this BTF? Then no answer is worth
    /// anything.
    bool is_damaged() const { return damage_.found(); }

    /// count_arrays() of the base.
    ArrayCounts arrays() const;

    /// visit(id, the lowest of them) for the plain types with this stub hash; ids in order.
    template <typename Visit>
    void for_types_with(const Hash128 &hash, Visit visit) const
    {
        uint32_t lowest = 0;
        for (const uint32_t &at : hashed_with(hash)) {
            const uint32_t id = once(at);
            if (!is_type(id))
                return;
            if (lowest == 0)
                lowest = id;
            visit(TypeId{id}, TypeId{lowest});
        }
    }

    /// visit(id, the lowest type with the same stub hash) for the structs, unions and enums of this
    /// name, defined or declared.
    template <typename Visit>
    void for_named(std::string_view name, Visit visit) const
    {
        const uint32_t hash = hash_of(name);
        for (const Named &n : bucket(named_, named_buckets_, hash)) {
            if (n.hash != hash)
                continue;
            const uint32_t id = once(n.type), lowest = once(n.lowest);
            if (is_type(id) && is_type(lowest) && btf_->name(TypeId{id}) == name)
                visit(TypeId{id}, TypeId{lowest});
        }
    }

    /// Where the base has this string.
    std::optional<uint32_t> find_string(std::string_view text) const;

    /// The lowest type with these words, of the kinds that a function's types are of (FORMAT.md);
    /// void: there is none.
    TypeId find_words(std::span<const uint32_t> words) const;

    // What is in the tables, each in the order of its hashes.
    struct Place { // of a string, or of a type with certain words
        uint32_t hash, at;
    };
    struct Named {
        uint32_t hash, type, lowest;
    };
    static uint32_t hash_of(std::string_view text);
    static uint32_t hash_of(std::span<const uint32_t> words);

private:
    BaseIndex() = default;
    bool is_type(uint32_t id) const { return note_unless(id > 0 && id < raw(btf_->end_id())); }
    /// Returns `ok`.
    bool note_unless(bool ok) const
    {
        if (!ok)
            damage_.note();
        return ok;
    }
    /// A number that is in the file, which somebody may be changing: looked at but once, so what is
    /// used is what was checked.
    static uint32_t once(const uint32_t &at)
    {
        return *static_cast<const volatile uint32_t *>(&at);
    }
    std::span<const uint32_t> hashed_with(const Hash128 &hash) const;
    /// Those whose hashes have the same highest bits. `buckets`: where each begins, and the end.
    template <typename Entry>
    std::span<const Entry> bucket(std::span<const Entry> entries, std::span<const uint32_t> buckets,
                                  uint64_t hash, unsigned hash_bits = 32) const
    {
        const size_t number = hash_bits == 32 ? hash * (buckets.size() - 1) >> 32
                                              : (hash >> 32) * (buckets.size() - 1) >> 32;
        const uint32_t begin = once(buckets[number]), end = once(buckets[number + 1]);
        if (!note_unless(begin <= end && end <= entries.size()))
            return {};
        return entries.subspan(begin, end - begin);
    }

    std::shared_ptr<const void> owner_;
    mutable Damage damage_;
    std::shared_ptr<const Btf> btf_;
    std::span<const uint32_t> hash_buckets_, hashed_, named_buckets_, string_buckets_,
        words_buckets_;
    std::span<const Hash128> hashes_; // hashed_: the type that has each
    std::span<const Named> named_;
    std::span<const Place> strings_, words_;
    uint32_t arrays_ = 0, chained_arrays_ = 0;
};

} // namespace btflink::merge
