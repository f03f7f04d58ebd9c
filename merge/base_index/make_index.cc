// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Makes the tables of an index.
//
// Method. Hash all types, names, strings and words of the base, and sort.
//
// Cost. One pass over all types and strings, and four sorts: three times the time of parsing.
#include "merge/base_index/make_index.h"

#include "merge/base_index/base_index.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace btflink::merge
{

namespace
{

using index_layout::Header, index_layout::NamedType, index_layout::HashedPlace,
    index_layout::Tables;

struct HashedType {
    Hash128 hash;
    uint32_t id;
};

/// Where the buckets begin in a sorted table. high(entry): the highest 32 bits of its hash.
template <typename Entry, typename High>
std::vector<uint32_t> buckets_of(const std::vector<Entry> &entries, High high)
{
    const size_t count = index_layout::buckets_for(static_cast<uint32_t>(entries.size()));
    std::vector<uint32_t> begin(count + 1);
    for (const Entry &e : entries)
        ++begin[(uint64_t{high(e)} * count >> 32) + 1];
    for (size_t i = 0; i < count; ++i)
        begin[i + 1] += begin[i];
    return begin;
}

class IndexMaker
{
public:
    IndexMaker(const Btf &base, Bytes blob) : base_(base), blob_(blob) {}

    Result<std::vector<std::byte>> run(const Where &where)
    {
        for_ids([&](TypeId id) { check(id); });
        if (wrong_ != void_id)
            return fail(where, strf("type %u (%s) refers to a FUNC, VAR or DATASEC", raw(wrong_),
                                    base_.kind_name(wrong_)));
        add_strings();
        add_types();
        return bytes();
    }

private:
    template <typename Visit>
    void for_ids(Visit visit) const
    {
        for (uint32_t id = 1; id <= base_.size(); ++id)
            visit(TypeId{id});
    }

    void count_array(TypeId id)
    {
        if (base_.kind(id) != btf::Kind::ARRAY)
            return;
        ++arrays_.all;
        const TypeId element{btf::tail_of(base_.type(id))[0]};
        arrays_.chained += base_.kind(element) == btf::Kind::ARRAY;
    }

    void check(TypeId id)
    {
        if (wrong_ == void_id && !base_.is_of_link(id))
            btf::for_each_type_id(base_.type(id), [&](uint32_t ref) {
                if (ref && base_.is_of_link(TypeId{ref}))
                    wrong_ = id;
            });
    }

    void add_strings()
    {
        const std::string_view all = base_.strings();
        for (size_t at = 1; at < all.size();) {
            const std::string_view text = all.data() + at;
            strings_.push_back({BaseIndex::hash_of(text), static_cast<uint32_t>(at)});
            at += text.size() + 1;
        }
        sort(strings_);
    }

    void add_types()
    {
        const std::vector<Hash128> hashes = stub_hashes(base_);
        for_ids([&](TypeId id) {
            if (!base_.is_of_link(id))
                hashes_.push_back({hashes[raw(id) - 1], raw(id)});
            count_array(id);
            if (may_recur(base_, base_.type(id)))
                words_.push_back({BaseIndex::hash_of(btf::all_words(base_.type(id))), raw(id)});
        });
        std::sort(hashes_.begin(), hashes_.end(), [](const HashedType &a, const HashedType &b) {
            return std::tuple(a.hash.low, a.hash.high, a.id) <
                   std::tuple(b.hash.low, b.hash.high, b.id);
        });
        for (size_t i = 0, first = 0; i < hashes_.size(); ++i) {
            if (!(hashes_[i].hash == hashes_[first].hash))
                first = i;
            add_name(TypeId{hashes_[i].id}, hashes_[first].id);
        }
        std::sort(named_.begin(), named_.end(), [](const auto &a, const auto &b) {
            return std::pair(a.hash, a.type) < std::pair(b.hash, b.type);
        });
        sort(words_);
    }

    void add_name(TypeId id, uint32_t lowest)
    {
        const btf_type &t = base_.type(id);
        if (btf::has_tag_name(t))
            named_.push_back({BaseIndex::hash_of(base_.name(id)), raw(id), lowest});
    }

    static void sort(std::vector<HashedPlace> &places)
    {
        std::sort(places.begin(), places.end(), [](const auto &a, const auto &b) {
            return std::pair(a.hash, a.at) < std::pair(b.hash, b.at);
        });
    }

    std::vector<std::byte> bytes() const
    {
        const uint32_t types = base_.size();
        auto count = [](const auto &table) { return static_cast<uint32_t>(table.size()); };
        Header h{index_layout::magic,
                 index_layout::version,
                 types,
                 0,
                 blob_.size(),
                 index_layout::hash_of_blob(blob_),
                 count(hashes_),
                 count(named_),
                 count(strings_),
                 count(words_),
                 arrays_,
                 0};
        h.file_bytes = index_layout::bytes_of(h);
        std::vector<Hash128> hashes;
        std::vector<uint32_t> hashed, marks;
        for (const HashedType &t : hashes_) {
            hashes.push_back(t.hash);
            hashed.push_back(t.id);
        }
        for (uint32_t i = 0; i < types; i += types_per_mark)
            marks.push_back(base_.word_index(TypeId{i + 1}));
        auto high = [](const auto &entry) { return entry.hash; };
        const auto hash_buckets = buckets_of(
            hashes_, [](const HashedType &t) { return static_cast<uint32_t>(t.hash.low >> 32); });
        const auto named_buckets = buckets_of(named_, high),
                   string_buckets = buckets_of(strings_, high),
                   words_buckets = buckets_of(words_, high);
        const Tables tables{hashes,   hashed,         hash_buckets, named_,        named_buckets,
                            strings_, string_buckets, words_,       words_buckets, marks};
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

    const Btf &base_;
    const Bytes blob_;
    std::vector<HashedType> hashes_;
    std::vector<NamedType> named_;
    std::vector<HashedPlace> strings_, words_;
    ArrayCounts arrays_;
    TypeId wrong_ = void_id; // the first that refers to a type of the link part
};

} // namespace

Result<std::vector<std::byte>> make_index(const Btf &base, Bytes blob, const Where &where)
{
    return IndexMaker(base, blob).run(where);
}

} // namespace btflink::merge
