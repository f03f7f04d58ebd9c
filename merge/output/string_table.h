// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The strings of the result under construction: each once, in order of first reference.
#pragma once

#include "common/btf/btf.h"
#include "common/graph/flat_index.h"
#include "merge/base_index/base_index.h"
#include "merge/dedup/hash_bits.h"

#include <string>
#include <string_view>
#include <vector>
#include <xxhash.h>

namespace btflink::merge
{

/// Strings of the result. If the base has the same string, the base's offset is used.
class ResultStrings
{
public:
    /// `index`: finds strings in the base; may be null. `expected`: about how many strings there
    /// will be.
    ResultStrings(const Btf *base, const BaseIndex *index, size_t expected)
        : index_(index), first_(base ? base->strings().size() : 0), offsets_(expected)
    {
        if (!base)
            own_.push_back('\0');
    }

    /// Offset of the string, added if new.
    uint32_t add(std::string_view text)
    {
        if (text.empty())
            return 0;
        if (index_)
            if (auto place = index_->find_string(text))
                return *place;
        const uint64_t hash = static_cast<uint32_t>(visible(XXH3_64bits(text.data(), text.size())));
        auto is_text = [&](uint32_t offset) {
            return std::string_view(own_.data() + (offset - first_)) == text;
        };
        const auto next = static_cast<uint32_t>(first_ + own_.size());
        auto [found, is_new] = offsets_.find_or_add(hash, next, is_text);
        if (is_new) {
            own_.append(text);
            own_.push_back('\0');
        }
        return found;
    }
    const std::string &blob() const { return own_; }

private:
    const BaseIndex *index_;
    const size_t first_; // offset of the first own string
    std::string own_;
    FlatIndex offsets_;
};

} // namespace btflink::merge
