// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Where things are in the bytes of an index (FORMAT.md).
#pragma once

#include "common/btf/btf.h"
#include "common/object_btf/type_hash.h"
#include "merge/base_index/base_index.h"

#include <bit>

namespace btflink::merge::index_layout
{

constexpr uint64_t magic = 0x1a7864692d667462; // "btf-idx\x1a", in the order of the host

struct Header {
    uint64_t magic;
    uint32_t version;
    uint32_t types;      // of the BTF
    uint64_t file_bytes; // of this file
    uint64_t blob_bytes; // of the BTF
    Hash128 blob;        // XXH3 of its bytes, as two numbers
    // Entries of the tables.
    uint32_t hashes, named, strings, words;
    uint32_t arrays, chained_arrays; // ArrayCounts of the BTF
    uint64_t check;                  // XXH3 of all bytes of this file, with 0 here
};
constexpr uint32_t version = 2;
static_assert(sizeof(Header) == 80);

/// Buckets of so many entries; there is one number more, the end.
constexpr size_t buckets_for(uint32_t entries)
{
    return std::bit_ceil(entries / 4 + size_t{1});
}

/// Places of the tables, in bytes. Each begins at a multiple of 8.
struct Places {
    explicit Places(const Header &h)
    {
        uint64_t at = sizeof h;
        auto table = [&](uint64_t count, size_t size) {
            const uint64_t begin = at;
            at = (at + count * size + 7) / 8 * 8;
            return begin;
        };
        hashes = table(h.hashes, sizeof(Hash128));
        hashed = table(h.hashes, 4);
        hash_buckets = table(buckets_for(h.hashes) + 1, 4);
        named = table(h.named, sizeof(BaseIndex::Named));
        named_buckets = table(buckets_for(h.named) + 1, 4);
        strings = table(h.strings, sizeof(BaseIndex::Place));
        string_buckets = table(buckets_for(h.strings) + 1, 4);
        words = table(h.words, sizeof(BaseIndex::Place));
        words_buckets = table(buckets_for(h.words) + 1, 4);
        marks = table(marks_for(h.types), 4);
        end = at;
    }
    uint64_t hashes, hashed, hash_buckets, named, named_buckets, strings, string_buckets, words,
        words_buckets, marks, end;
};

/// The key by which it is known that an index is of certain BTF.
Hash128 hash_of_blob(Bytes blob);
/// What Header::check must be.
uint64_t check_of(Bytes file);

} // namespace btflink::merge::index_layout
