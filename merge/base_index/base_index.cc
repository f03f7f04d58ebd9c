// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Opens an index, and looks up types and strings in it.
//
// Problem. A damaged index, or an index of other BTF, must not be used: a module would get wrong
// BTF without any message.
//
// Method. open() hashes all bytes of the BTF and of the index. File times and inodes are not
// sufficient: a file can change within one clock tick, or through a mapping. Hashing takes a tenth
// of the time of parsing the BTF. A forged file may have correct hashes, so each number from it is
// also checked against its bounds before use; is_malformed() reports an impossible one.
//
// Cost. Opening: one pass over all bytes, at the speed of memory. A look-up: one or two cache
// misses.
#include "merge/base_index/base_index.h"

#include "merge/base_index/wide_hash.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <xxhash.h>

namespace btflink::merge
{

using index_layout::Header, index_layout::HashedEntry;

namespace index_layout
{

Hash128 hash_of_blob(Bytes blob)
{
    if (wide_hash::is_supported()) {
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
    return wide_hash::is_supported() ? wide_hash::hash64(rest.data(), rest.size(), head)
                                     : XXH3_64bits_withSeed(rest.data(), rest.size(), head);
}

} // namespace index_layout

/// `h`: the header of the index `bytes`, already checked. It is not read again, because the mapped
/// file may be changing.
BaseIndex::BaseIndex(const Header &h, Bytes bytes, std::shared_ptr<const void> owner)
    : owner_(std::move(owner))
{
    arrays_ = h.arrays;
    index_layout::for_each_table(
        tables_, h, [&]<typename T>(std::span<const T> &table, size_t count, uint64_t at) {
            table = {reinterpret_cast<const T *>(bytes.data() + at), count};
        });
}

std::shared_ptr<const BaseIndex> BaseIndex::open(Bytes bytes, Bytes blob,
                                                 std::shared_ptr<const void> owner)
{
    Header h;
    if (bytes.size() < sizeof h || reinterpret_cast<uintptr_t>(bytes.data()) % 8)
        return nullptr;
    std::memcpy(&h, bytes.data(), sizeof h);
    if (h.magic != index_layout::magic || h.version != index_layout::version ||
        h.file_bytes != bytes.size() || h.blob_bytes != blob.size())
        return nullptr;
    auto types = types_in_place(blob, h.types);
    if (!types || index_layout::bytes_of(h) != bytes.size() ||
        h.check != index_layout::check_of(bytes) || h.blob != index_layout::hash_of_blob(blob))
        return nullptr;
    std::shared_ptr<BaseIndex> index(new BaseIndex(h, bytes, std::move(owner)));
    types->samples = index->tables_.samples;
    types->plain_end = 1; // plain types may have any id in a base
    index->btf_ = std::make_shared<const Btf>(Btf::sampled(*types, index->malformed_));
    return index;
}

std::shared_ptr<const BaseIndex> BaseIndex::of(std::shared_ptr<const Btf> btf,
                                               std::vector<std::byte> made)
{
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(made));
    Header h;
    std::memcpy(&h, owner->data(), sizeof h);
    std::shared_ptr<BaseIndex> index(new BaseIndex(h, *owner, owner));
    index->btf_ = std::move(btf);
    return index;
}

uint32_t BaseIndex::hash_of(std::string_view text)
{
    return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()));
}

uint32_t BaseIndex::hash_of(std::span<const uint32_t> words)
{
    return static_cast<uint32_t>(XXH3_64bits(words.data(), words.size_bytes()));
}

std::optional<uint32_t> BaseIndex::find_string(std::string_view text) const
{
    const uint32_t hash = hash_of(text);
    for (const HashedEntry &p : bucket(tables_.strings, tables_.string_buckets, hash)) {
        if (p.hash != hash)
            continue;
        const uint32_t at = once(p.value);
        if (note_unless(at < btf_->str_size()) && btf_->str(at) == text)
            return at;
    }
    return std::nullopt;
}

TypeId BaseIndex::find_words(std::span<const uint32_t> words) const
{
    const uint32_t hash = hash_of(words);
    for (const HashedEntry &p : bucket(tables_.words, tables_.words_buckets, hash)) {
        if (p.hash != hash)
            continue;
        const uint32_t id = once(p.value);
        if (!is_type(id))
            continue;
        if (std::ranges::equal(btf::all_words(btf_->type(TypeId{id})), words))
            return TypeId{id};
    }
    return void_id;
}

} // namespace btflink::merge
