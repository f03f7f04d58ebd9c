// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The layout of a base index (merge/base_index/FORMAT.md): header and tables.
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/type_hash.h"

#include <bit>
#include <span>

namespace btflink::merge
{

/// The number of arrays in a base, and of those whose elements are arrays.
struct ArrayCounts {
    uint32_t all = 0, chained = 0;
};

} // namespace btflink::merge

namespace btflink::merge::index_layout
{

constexpr uint64_t magic = 0x1a7864692d667462; // "btf-idx\x1a", in host byte order

struct Header {
    uint64_t magic;
    uint32_t version;
    uint32_t types;      // of the BTF
    uint64_t file_bytes; // of this file
    uint64_t blob_bytes; // of the BTF
    Hash128 blob;        // XXH3 of the BTF, as two numbers
    // Numbers of entries of these tables.
    uint32_t hashes, named, strings, words;
    ArrayCounts arrays;
    uint64_t check; // XXH3 of this file; see FORMAT.md
};
constexpr uint32_t version = 3;
static_assert(sizeof(Header) == 80);

// Entries of the tables, sorted by hash.
struct HashedEntry {
    uint32_t hash;
    uint32_t value; // offset of a string, or id of a type
    auto operator<=>(const HashedEntry &) const = default;
};
struct NamedType {
    uint32_t hash, type, lowest; // lowest: the lowest type with the same stub hash
    auto operator<=>(const NamedType &) const = default;
};

/// The number of buckets of a table with `entries` entries. The table of buckets has one more
/// number, the end of the last bucket.
constexpr size_t bucket_count(uint32_t entries)
{
    return std::bit_ceil(entries / 4 + size_t{1});
}

/// The tables in the order of the file. Each begins at a multiple of 8 bytes.
struct Tables {
    std::span<const Hash128> hashes;
    std::span<const uint32_t> hashed; // the type with each of `hashes`
    std::span<const uint32_t> hash_buckets;
    std::span<const NamedType> named;
    std::span<const uint32_t> named_buckets;
    std::span<const HashedEntry> strings;
    std::span<const uint32_t> string_buckets;
    std::span<const HashedEntry> words;
    std::span<const uint32_t> words_buckets;
    std::span<const uint32_t> samples;
};

/// Calls visit(table, number of entries, byte offset) for each table. Returns the size of the file.
template <typename AnyTables, typename Visit>
uint64_t for_each_table(AnyTables &t, const Header &h, Visit visit)
{
    uint64_t at = sizeof h;
    auto next = [&](auto &table, size_t count) {
        visit(table, count, at);
        at = align_up(at + count * sizeof table[0], 8);
    };
    next(t.hashes, h.hashes);
    next(t.hashed, h.hashes);
    next(t.hash_buckets, bucket_count(h.hashes) + 1);
    next(t.named, h.named);
    next(t.named_buckets, bucket_count(h.named) + 1);
    next(t.strings, h.strings);
    next(t.string_buckets, bucket_count(h.strings) + 1);
    next(t.words, h.words);
    next(t.words_buckets, bucket_count(h.words) + 1);
    next(t.samples, sample_count(h.types));
    return at;
}

inline uint64_t bytes_of(const Header &h)
{
    Tables none;
    return for_each_table(none, h, [](auto &, size_t, uint64_t) {});
}

/// Header::blob of an index of this BTF.
Hash128 hash_of_blob(Bytes blob);
/// What Header::check of this index must be, whatever it is now.
uint64_t check_of(Bytes file);

} // namespace btflink::merge::index_layout
