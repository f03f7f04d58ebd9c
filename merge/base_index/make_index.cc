// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes a base index: tables of a base's types, names and strings, sorted by hash.
//
// Method. Hash all plain types, all names of structs, unions and enums, all strings, and the words
// of types that may recur in a result (may_be_in_link_part()). Sort each table.
//
// Cost. A few passes over all types and strings, and four sorts: three times the time of parsing.
#include "merge/base_index/base_index.h"

#include <algorithm>
#include <cstring>

namespace btflink::merge
{

namespace
{

using index_layout::Header, index_layout::NamedType, index_layout::HashedEntry,
    index_layout::Tables;

struct HashedType {
    Hash128 hash;
    uint32_t id;
    auto operator<=>(const HashedType &) const = default;
};

/// Where the buckets begin in a sorted table, and where the last one ends. high(entry): see
/// BaseIndex::bucket().
template <typename Entry, typename High>
std::vector<uint32_t> buckets_of(const std::vector<Entry> &entries, High high)
{
    const size_t count = index_layout::bucket_count(static_cast<uint32_t>(entries.size()));
    std::vector<uint32_t> begin(count + 1);
    for (const Entry &e : entries)
        ++begin[(uint64_t{high(e)} * count >> 32) + 1];
    for (size_t i = 0; i < count; ++i)
        begin[i + 1] += begin[i];
    return begin;
}

bool refers_to_link_part(const Btf &base, TypeId id)
{
    bool found = false;
    btf::for_each_type_id(base.type(id), [&](uint32_t ref) {
        found = found || (ref && base.is_of_link(TypeId{ref}));
    });
    return found;
}

struct IndexMaker {
    const Btf &base;
    Bytes blob;
    std::vector<HashedType> hashes = {};
    std::vector<NamedType> named = {};
    std::vector<HashedEntry> strings = {}, words = {};
    ArrayCounts arrays = {};

    void add_strings()
    {
        const std::string_view all = base.strings();
        for (size_t at = 1; at < all.size();) {
            const std::string_view text = all.data() + at;
            strings.push_back({BaseIndex::hash_of(text), static_cast<uint32_t>(at)});
            at += text.size() + 1;
        }
        std::ranges::sort(strings);
    }

    void add_types()
    {
        const std::vector<Hash128> all = stub_hashes(base);
        for (TypeId id : base.ids()) {
            const btf_type &t = base.type(id);
            if (!base.is_of_link(id))
                hashes.push_back({all[raw(id) - 1], raw(id)});
            if (btf::kind_of(t) == btf::Kind::ARRAY) {
                ++arrays.all;
                arrays.chained += base.kind(TypeId{btf::tail_of(t)[0]}) == btf::Kind::ARRAY;
            }
            if (may_be_in_link_part(base, t))
                words.push_back({BaseIndex::hash_of(btf::all_words(t)), raw(id)});
        }
        std::ranges::sort(hashes);
        for (size_t i = 0, first = 0; i < hashes.size(); ++i) {
            if (hashes[i].hash != hashes[first].hash)
                first = i;
            const TypeId id{hashes[i].id};
            if (btf::has_tag_name(base.type(id)))
                named.push_back(
                    {BaseIndex::hash_of(base.name(id)), hashes[i].id, hashes[first].id});
        }
        std::ranges::sort(named);
        std::ranges::sort(words);
    }

    std::vector<std::byte> bytes() const
    {
        const uint32_t types = base.size();
        auto count = [](const auto &table) { return static_cast<uint32_t>(table.size()); };
        Header h{index_layout::magic,
                 index_layout::version,
                 types,
                 0,
                 blob.size(),
                 index_layout::hash_of_blob(blob),
                 count(hashes),
                 count(named),
                 count(strings),
                 count(words),
                 arrays,
                 0};
        h.file_bytes = index_layout::bytes_of(h);
        std::vector<Hash128> just_hashes;
        std::vector<uint32_t> hashed, samples;
        for (const HashedType &t : hashes) {
            just_hashes.push_back(t.hash);
            hashed.push_back(t.id);
        }
        for (uint32_t i = 0; i < types; i += types_per_sample)
            samples.push_back(base.word_index(TypeId{i + 1}));
        auto high = [](const auto &entry) { return entry.hash; };
        const auto hash_buckets = buckets_of(
            hashes, [](const HashedType &t) { return static_cast<uint32_t>(t.hash.low >> 32); });
        const auto named_buckets = buckets_of(named, high),
                   string_buckets = buckets_of(strings, high),
                   words_buckets = buckets_of(words, high);
        const Tables tables{just_hashes, hashed,         hash_buckets, named,         named_buckets,
                            strings,     string_buckets, words,        words_buckets, samples};
        std::vector<std::byte> out(h.file_bytes);
        index_layout::for_each_table(tables, h, [&](auto &table, size_t, uint64_t at) {
            if (!table.empty())
                std::memcpy(out.data() + at, table.data(), table.size_bytes());
        });
        std::memcpy(out.data(), &h, sizeof h);
        h.check = index_layout::check_of(out);
        std::memcpy(out.data(), &h, sizeof h);
        return out;
    }
};

} // namespace

Result<std::vector<std::byte>> make_index(const Btf &base, Bytes blob, const Where &where)
{
    for (TypeId id : base.ids())
        if (!base.is_of_link(id) && refers_to_link_part(base, id))
            return fail(where, strf("type %u (%s) refers to a FUNC, VAR or DATASEC", raw(id),
                                    base.kind_name(id)));
    IndexMaker index{base, blob};
    index.add_strings();
    index.add_types();
    return index.bytes();
}

} // namespace btflink::merge
