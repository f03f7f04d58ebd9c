// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. A module's result must be byte-identical with and without an index. In some cases, which
// no kernel has, an index could not easily give the answers of a search.
//
// Method. Hash all types of the base, and sort. BTF with one of these cases gets no index:
//  - another byte order, or unaligned types: Btf has copied them;
//  - a duplicate string, or a name that points into another string: it has several offsets;
//  - a cycle without a named struct: its hash may depend on which types are hashed;
//  - a plain type that refers to a FUNC, VAR or DATASEC: a search reports it as an error.
//
// Cost. One pass over all types and strings, and four sorts: three times the time of parsing.
#include "merge/base_index/make_index.h"

#include "common/graph/post_order.h"
#include "merge/base_index/base_index.h"
#include "merge/input/array_form.h"

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

    std::vector<std::byte> run()
    {
        if (!is_in_place() || !add_strings() || !is_fit()) {
            strings_.clear();
            return bytes(0);
        }
        add_types();
        return bytes(base_.size());
    }

private:
    template <typename Visit>
    void for_ids(Visit visit) const
    {
        for (uint32_t id = 1; id <= base_.size(); ++id)
            visit(TypeId{id});
    }

    bool is_in_place() const
    {
        const auto *words = reinterpret_cast<const std::byte *>(base_.words().data());
        return !base_.base() && words >= blob_.data() && words < blob_.data() + blob_.size();
    }

    /// Returns false if a string is a duplicate.
    bool add_strings()
    {
        const std::string_view all = base_.strings();
        is_start_.assign(all.size(), false);
        is_start_[0] = true;
        for (size_t at = 0; at < all.size();) {
            const std::string_view text = all.data() + at;
            is_start_[at] = true;
            if (at && text.empty())
                return false;
            if (at)
                strings_.push_back({BaseIndex::hash_of(text), static_cast<uint32_t>(at)});
            at += text.size() + 1;
        }
        sort(strings_);
        for (size_t i = 0; i < strings_.size(); ++i)
            for (size_t j = i + 1; j < strings_.size() && strings_[j].hash == strings_[i].hash; ++j)
                if (base_.str(strings_[i].at) == base_.str(strings_[j].at))
                    return false;
        return true;
    }

    bool is_fit()
    {
        bool fit = true;
        for_ids([&](TypeId id) {
            const btf_type &t = base_.type(id);
            btf::for_each_str_off(t, [&](uint32_t at) { fit = fit && is_start_[at]; });
            if (!base_.is_of_link(id))
                btf::for_each_type_id(
                    t, [&](uint32_t ref) { fit = fit && !(ref && base_.is_of_link(TypeId{ref})); });
        });
        return fit && !has_cycle();
    }

    /// Is there a cycle without a named struct?
    bool has_cycle() const
    {
        std::vector<uint8_t> state(base_.size() + 1);
        std::vector<TypeId> stack;
        bool found = false;
        for_ids([&](TypeId root) {
            post_order(
                root, [&](TypeId id) -> uint8_t & { return state[raw(id)]; }, stack,
                [&](TypeId id, auto need) {
                    btf::for_each_type_id(base_.type(id), [&](uint32_t ref) {
                        if (!ref || stub_class(base_, TypeId{ref}))
                            return;
                        found |= state[ref] == walk::open;
                        need(TypeId{ref});
                    });
                },
                [](TypeId) {});
        });
        return found;
    }

    void add_types()
    {
        const std::vector<Hash128> hashes = stub_hashes(base_);
        for_ids([&](TypeId id) {
            if (!base_.is_of_link(id))
                hashes_.push_back({hashes[raw(id) - 1], raw(id)});
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

    /// `types`: 0 if the BTF cannot have an index.
    std::vector<std::byte> bytes(uint32_t types) const
    {
        auto count = [](const auto &table) { return static_cast<uint32_t>(table.size()); };
        const ArrayCounts arrays = count_arrays(base_);
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
                 arrays.all,
                 arrays.chained,
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
    std::vector<bool> is_start_; // by offset: does a string begin there?
    std::vector<HashedType> hashes_;
    std::vector<NamedType> named_;
    std::vector<HashedPlace> strings_, words_;
};

} // namespace

std::vector<std::byte> make_index(const Btf &base, Bytes blob)
{
    return IndexMaker(base, blob).run();
}

} // namespace btflink::merge
