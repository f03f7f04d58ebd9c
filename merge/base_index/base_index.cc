// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. An index that is not of this BTF, or is damaged, must never be believed: it would not
// crash anything, but a module would get other BTF without anybody noticing.
//
// Method. open() hashes all bytes of the BTF and of the index. File times and inodes are not
// enough: a file can be changed within one tick of the clock, or by way of a mapping. Hashing takes
// a tenth of what parsing the BTF would. A file that was forged has right sums as well; so each
// number that comes from it is checked against its bounds when it is used, and what cannot be is
// noted. It is looked at once for both, as somebody may be changing the file.
//
// Cost. A look at each byte, at the speed of memory. A look-up is one or two cache misses.
#include "merge/base_index/base_index.h"

#include "merge/base_index/layout.h"
#include "merge/base_index/wide_hash.h"
#include "merge/input/array_form.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <xxhash.h>

namespace btflink::merge
{

using index_layout::Header, index_layout::Places;

namespace index_layout
{

Hash128 hash_of_blob(Bytes blob)
{
    if (wide_hash::is_there()) {
        Hash128 h;
        wide_hash::hash128(blob.data(), blob.size(), h.low, h.high);
        return h;
    }
    const XXH128_hash_t h = XXH3_128bits(blob.data(), blob.size());
    return {h.low64, h.high64};
}

uint64_t check_of(Bytes file)
{
    Header h;
    std::memcpy(&h, file.data(), sizeof h);
    h.check = 0;
    const uint64_t head = XXH3_64bits(&h, sizeof h);
    const Bytes rest = file.subspan(sizeof h);
    return wide_hash::is_there() ? wide_hash::hash64(rest.data(), rest.size(), head)
                                 : XXH3_64bits_withSeed(rest.data(), rest.size(), head);
}

} // namespace index_layout

namespace
{

/// Types and strings of a blob in host order; empty: they are not where an index can use them.
std::optional<MarkedTypes> types_of(Bytes blob, uint32_t count)
{
    if (blob.size() < btf::header_size || load<uint16_t>(blob.data(), host_order) != BTF_MAGIC)
        return std::nullopt;
    auto word = [&](size_t at) { return load<uint32_t>(blob.data() + at, host_order); };
    const uint64_t types = uint64_t{word(4)} + word(8), strings = uint64_t{word(4)} + word(16);
    const uint32_t size = word(12), text = word(20);
    if (types + size > blob.size() || strings + text > blob.size() || text == 0 || size % 4 ||
        count > size / 12 || reinterpret_cast<uintptr_t>(blob.data() + types) % 4)
        return std::nullopt;
    auto *words = reinterpret_cast<const uint32_t *>(blob.data() + types);
    auto *chars = reinterpret_cast<const char *>(blob.data() + strings);
    if (chars[0] || chars[text - 1])
        return std::nullopt;
    // None counts as plain: in a base these do not come before all others.
    return MarkedTypes{{words, size / 4}, {}, count, 1, {chars, text}};
}

} // namespace

IndexState BaseIndex::open(Bytes bytes, Bytes blob, std::shared_ptr<const void> owner)
{
    Header h;
    if (bytes.size() < sizeof h || reinterpret_cast<uintptr_t>(bytes.data()) % 8)
        return {};
    std::memcpy(&h, bytes.data(), sizeof h);
    if (h.magic != index_layout::magic || h.version != index_layout::version ||
        h.file_bytes != bytes.size() || h.blob_bytes != blob.size())
        return {};
    const Places places(h);
    if (places.end != bytes.size() || h.check != index_layout::check_of(bytes) ||
        h.blob != index_layout::hash_of_blob(blob))
        return {};
    auto types = types_of(blob, h.types);
    if (h.types == 0 || !types)
        return {true, nullptr};

    auto table = [&]<typename T>(std::span<const T> &out, uint64_t at, size_t count) {
        out = {reinterpret_cast<const T *>(bytes.data() + at), count};
    };
    std::shared_ptr<BaseIndex> index(new BaseIndex);
    index->arrays_ = h.arrays;
    index->chained_arrays_ = h.chained_arrays;
    index->owner_ = std::move(owner);
    table(types->marks, places.marks, marks_for(h.types));
    index->btf_ = std::make_shared<const Btf>(Btf::marked(*types, index->damage_));
    table(index->hashes_, places.hashes, h.hashes);
    table(index->hashed_, places.hashed, h.hashes);
    table(index->hash_buckets_, places.hash_buckets, index_layout::buckets_for(h.hashes) + 1);
    table(index->named_, places.named, h.named);
    table(index->named_buckets_, places.named_buckets, index_layout::buckets_for(h.named) + 1);
    table(index->strings_, places.strings, h.strings);
    table(index->string_buckets_, places.string_buckets, index_layout::buckets_for(h.strings) + 1);
    table(index->words_, places.words, h.words);
    table(index->words_buckets_, places.words_buckets, index_layout::buckets_for(h.words) + 1);
    return {true, index};
}

ArrayCounts BaseIndex::arrays() const
{
    return {arrays_, chained_arrays_};
}

uint32_t BaseIndex::hash_of(std::string_view text)
{
    return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()));
}

uint32_t BaseIndex::hash_of(std::span<const uint32_t> words)
{
    return static_cast<uint32_t>(XXH3_64bits(words.data(), words.size_bytes()));
}

std::span<const uint32_t> BaseIndex::hashed_with(const Hash128 &hash) const
{
    const auto near = bucket(hashes_, hash_buckets_, hash.low, 64);
    size_t begin = 0;
    while (begin < near.size() && !(near[begin] == hash))
        ++begin;
    size_t end = begin;
    while (end < near.size() && near[end] == hash)
        ++end;
    const auto first = static_cast<size_t>(near.data() - hashes_.data());
    return near.empty() ? std::span<const uint32_t>() : hashed_.subspan(first + begin, end - begin);
}

std::optional<uint32_t> BaseIndex::find_string(std::string_view text) const
{
    const uint32_t hash = hash_of(text);
    for (const Place &p : bucket(strings_, string_buckets_, hash)) {
        if (p.hash != hash)
            continue;
        const uint32_t at = once(p.at);
        if (note_unless(at < btf_->str_size()) && btf_->str(at) == text)
            return at;
    }
    return std::nullopt;
}

TypeId BaseIndex::find_words(std::span<const uint32_t> words) const
{
    const uint32_t hash = hash_of(words);
    for (const Place &p : bucket(words_, words_buckets_, hash)) {
        if (p.hash != hash)
            continue;
        const uint32_t id = once(p.at);
        if (!is_type(id))
            continue;
        const btf_type &t = btf_->type(TypeId{id});
        if (btf::words_of(t) == words.size() &&
            std::memcmp(&t, words.data(), words.size_bytes()) == 0)
            return TypeId{id};
    }
    return void_id;
}

} // namespace btflink::merge
