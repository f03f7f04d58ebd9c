// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The strings of the result under construction: each once, in order of first reference.
#pragma once

#include "common/btf/btf.h"
#include "common/graph/flat_index.h"
#include "merge/base_index/base_index.h"
#include "merge/dedup/hash_bits.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <xxhash.h>

namespace btflink::merge
{

/// Strings of the result. If the base has the same string, the base's offset is used.
class ResultStrings
{
    static uint64_t hash(std::string_view text)
    {
        return static_cast<uint32_t>(visible(XXH3_64bits(text.data(), text.size())));
    }
    auto is(std::string_view text) const
    {
        return [this, text](uint32_t offset) { return std::string_view(at(offset)) == text; };
    }

public:
    /// `index`: finds strings in the base; null: use() lists them. `expected`: about how many
    /// strings there will be.
    ResultStrings(const Btf *base, const BaseIndex *index, size_t expected)
        : index_(index), offsets_(expected)
    {
        if (base)
            base_ = base->strings();
        else
            own_.push_back('\0');
    }

    /// Makes the base's string at `offset` known, unless an equal string was added before.
    void use(uint32_t offset) { find(std::string_view(base_.data() + offset), offset); }

    /// Offset of the string, added if new.
    uint32_t add(std::string_view text)
    {
        if (text.empty())
            return 0;
        if (index_)
            if (auto place = index_->find_string(text))
                return *place;
        auto next = static_cast<uint32_t>(base_.size() + own_.size());
        uint32_t found = find(text, next);
        if (found == next) {
            own_.append(text);
            own_.push_back('\0');
        }
        return found;
    }

    /// Offset of the string; nothing if it was neither added nor used.
    std::optional<uint32_t> find(std::string_view text) const
    {
        if (text.empty())
            return 0;
        const uint32_t found = offsets_.find(hash(text), is(text));
        return found == FlatIndex::none ? std::nullopt : std::optional(found);
    }
    const std::string &blob() const { return own_; }

private:
    const char *at(uint32_t offset) const
    {
        return offset < base_.size() ? base_.data() + offset
                                     : own_.data() + (offset - base_.size());
    }

    /// Offset of an equal string. If there is none, the string gets `offset`.
    uint32_t find(std::string_view text, uint32_t offset)
    {
        return offsets_.find_or_add(hash(text), offset, is(text)).first;
    }

    const BaseIndex *index_;
    std::string_view base_;
    std::string own_;
    FlatIndex offsets_;
};

} // namespace btflink::merge
