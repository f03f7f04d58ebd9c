// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Computes a Hash128 of a sequence of integers, texts and hashes, the same on every host.
#pragma once

#include "common/io/bytes.h"
#include "common/object_btf/type_hash.h"

#include <cstring>
#include <string>
#define XXH_INLINE_ALL // most types are short: a call would cost as much as hashing
#include <xxhash.h>

namespace btflink
{

class Digest
{
public:
    void word(uint32_t value) { put(value); }
    void hash(const Hash128 &h)
    {
        put(h.low);
        put(h.high);
    }
    /// Adds the text with its NUL byte.
    void text(const char *s) { bytes_.append(s, std::strlen(s) + 1); }
    /// The hash of everything since the last finish().
    Hash128 finish()
    {
        const XXH128_hash_t h = XXH3_128bits(bytes_.data(), bytes_.size());
        bytes_.clear();
        return {h.low64, h.high64};
    }

private:
    template <std::unsigned_integral T>
    void put(T value)
    {
        value = in_order(value, ByteOrder::little);
        bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
    }

    std::string bytes_; // finish() keeps the memory for the next hash
};

} // namespace btflink
