// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// An index of a base: answers a merge's questions about the base, so that the base need not be
// parsed. FORMAT.md specifies the bytes.
#pragma once

#include "merge/base_index/layout.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::merge
{

/// Can a type of the result's link part (output/link_part.cc) equal `t`, a type of `btf`?
inline bool may_be_in_link_part(const Btf &btf, const btf_type &t)
{
    // The tag of an arena pointer; see add_arena_pointer() in link_part.cc.
    auto is_arena_tag = [](const btf_type &tag) {
        return btf::kind_of(tag) == btf::Kind::TYPE_TAG && btf::kflag_of(tag);
    };
    const btf::Kind kind = btf::kind_of(t);
    return kind == btf::Kind::FUNC_PROTO || kind == btf::Kind::FUNC ||
           kind == btf::Kind::DECL_TAG || is_arena_tag(t) ||
           (kind == btf::Kind::PTR && t.type && is_arena_tag(btf.type(TypeId{t.type})));
}

struct Base;
struct Object;

class BaseIndex
{
public:
    /// Opens `bytes` as an index of `blob`, and verifies hashes of both. `owner` keeps `bytes`
    /// alive; `blob` must outlive the index. Null if `bytes` are not aligned to 8 bytes, are
    /// damaged, or are an index of another version or of other BTF; or if `blob` cannot be read in
    /// place (types_in_place()).
    static std::shared_ptr<const BaseIndex> open(Bytes bytes, Bytes blob,
                                                 std::shared_ptr<const void> owner);
    /// Wraps the bytes that make_index() made for `btf`.
    static std::shared_ptr<const BaseIndex> of(std::shared_ptr<const Btf> btf,
                                               std::vector<std::byte> made);

    /// The BTF of the base. If open() opened the index, the types are checked on access.
    const std::shared_ptr<const Btf> &btf() const { return btf_; }
    /// Was an impossible number or a malformed type found? Then all answers are invalid.
    bool is_malformed() const { return malformed_.is_set(); }

    ArrayCounts arrays() const { return arrays_; }

    /// Calls visit(id, lowest id with the same stub hash) for all plain types. In a base, these are
    /// all types except FUNCs, VARs, DATASECs and the DECL_TAGs on these.
    template <typename Visit>
    void for_all(Visit visit) const
    {
        uint32_t lowest = 0;
        for (size_t i = 0; i < tables_.hashes.size(); ++i) {
            const uint32_t id = once(tables_.hashed[i]);
            if (!is_type(id))
                return;
            if (i == 0 || tables_.hashes[i] != tables_.hashes[i - 1])
                lowest = id;
            visit(TypeId{id}, TypeId{lowest});
        }
    }

    /// Calls visit(id, lowest id) for the plain types with this stub hash, in ascending order.
    template <typename Visit>
    void for_types_with(const Hash128 &hash, Visit visit) const
    {
        // By bisection, because a base with many equal types has a large bucket, and many false
        // hashes of objects may lead to it.
        const auto near =
            bucket(tables_.hashes, tables_.hash_buckets, static_cast<uint32_t>(hash.low >> 32));
        uint32_t lowest = 0;
        for (auto at = std::lower_bound(near.begin(), near.end(), hash); at != near.end(); ++at) {
            if (*at != hash)
                return;
            const uint32_t id =
                once(tables_.hashed[static_cast<size_t>(&*at - &tables_.hashes[0])]);
            if (!is_type(id))
                return;
            if (lowest == 0)
                lowest = id;
            visit(TypeId{id}, TypeId{lowest});
        }
    }

    /// Calls visit(id, lowest id with the same stub hash) for the structs, unions and enums of this
    /// name, defined or declared.
    template <typename Visit>
    void for_named(std::string_view name, Visit visit) const
    {
        const uint32_t hash = hash_of(name);
        for (const index_layout::NamedType &n :
             bucket(tables_.named, tables_.named_buckets, hash)) {
            if (n.hash != hash)
                continue;
            const uint32_t id = once(n.type), lowest = once(n.lowest);
            if (is_type(id) && is_type(lowest) && btf_->name(TypeId{id}) == name)
                visit(TypeId{id}, TypeId{lowest});
        }
    }

    /// The string's offset in the base; nothing if the base does not have the string. `text` must
    /// not be empty: the index leaves out the empty string at offset 0.
    std::optional<uint32_t> find_string(std::string_view text) const;

    /// The lowest type with these words among the types for which may_be_in_link_part() is true;
    /// void if there is none.
    TypeId find_words(std::span<const uint32_t> words) const;

    static uint32_t hash_of(std::string_view text);
    static uint32_t hash_of(std::span<const uint32_t> words);

private:
    BaseIndex(const index_layout::Header &h, Bytes bytes, std::shared_ptr<const void> owner);
    bool is_type(uint32_t id) const { return note_unless(id > 0 && id < raw(btf_->end_id())); }
    /// Records that the file is malformed unless `ok`. Returns `ok`.
    bool note_unless(bool ok) const
    {
        if (!ok)
            malformed_.set();
        return ok;
    }
    /// Reads a number from the file exactly once: the file may be changing, and the number that is
    /// used must be the one that was checked.
    static uint32_t once(const uint32_t &at)
    {
        return *static_cast<const volatile uint32_t *>(&at);
    }
    /// The bucket in which an entry with a given hash must be. `high`: the hash; of a stub hash,
    /// the highest 32 bits of its low half. `buckets`: where each bucket begins, and the end of the
    /// last.
    template <typename Entry>
    std::span<const Entry> bucket(std::span<const Entry> entries, std::span<const uint32_t> buckets,
                                  uint32_t high) const
    {
        const size_t number = uint64_t{high} * (buckets.size() - 1) >> 32;
        const uint32_t begin = once(buckets[number]), end = once(buckets[number + 1]);
        if (!note_unless(begin <= end && end <= entries.size()))
            return {};
        return entries.subspan(begin, end - begin);
    }

    std::shared_ptr<const void> owner_;
    mutable MalformedFlag malformed_;
    std::shared_ptr<const Btf> btf_;
    index_layout::Tables tables_;
    ArrayCounts arrays_;
};

// make_index.cc

/// Makes an index of `base`, which was parsed from `blob`. Error: a plain type refers to a FUNC,
/// VAR or DATASEC, or to a tag of one.
Result<std::vector<std::byte>> make_index(const Btf &base, Bytes blob, const Where &where);

// index_file.cc: keeps the index of a base in a file, for many runs with the same base.

/// Reads the base in the file `path` and gives it an index. If the file `index` has an index of
/// this base, the base is not parsed. Otherwise an index is made and, if possible, kept in the file
/// `index` for later runs; a file that has anything but an index in it, or that cannot be read, is
/// not overwritten. An empty `path` results in an empty Base; with an empty `index`, the index is
/// neither looked for nor kept.
Result<Base> read_indexed_base(const std::string &path, const std::string &index);

// array_form.cc: int a[2][3] has two forms in BTF. Chained: an ARRAY of 2 ARRAYs of 3 (object BTF,
// pahole from 1.32 on). Flat: one ARRAY of 6 (pahole up to 1.31). Types that reach such arrays can
// equal types of a base only if the arrays have the base's form.

/// If the arrays of the base are flat, makes those of the objects flat and, if `hashed`, updates
/// the objects' stub hashes.
void use_array_form_of_base(const BaseIndex &base, std::vector<Object> &objects, bool hashed,
                            unsigned threads);

} // namespace btflink::merge
