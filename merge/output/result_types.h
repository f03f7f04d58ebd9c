// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The types and strings of the result under construction.
#pragma once

#include "merge/output/string_table.h"

#include <span>
#include <vector>

namespace btflink::merge
{

/// Finds types by their words.
class WordIndex
{
public:
    /// `base`: an index of the base, whose types count as added; may be null.
    explicit WordIndex(const BaseIndex *base) : base_(base) {}

    /// The id of the type with these words: that of an earlier one, or `id`.
    uint32_t add(std::span<const uint32_t> words, uint32_t id)
    {
        auto [number, is_new] = types_.add(words);
        if (is_new) {
            const TypeId found = base_ ? base_->find_words(words) : void_id;
            ids_.push_back(found != void_id ? raw(found) : id);
        }
        return ids_[number];
    }
    /// Adds a type that does not equal any of the base.
    void add_own(std::span<const uint32_t> words, uint32_t id)
    {
        if (types_.add(words).second)
            ids_.push_back(id);
    }

private:
    const BaseIndex *base_;
    VectorIndex types_;
    std::vector<uint32_t> ids_; // by number
};

struct ResultTypes {
    std::vector<uint32_t> words; // of all types, those of the base excluded
    ResultStrings strings;
    WordIndex index;  // of types that a type of the link part may equal
    bool has_base;    // whose FUNCs and DATASECs a FUNC or DATASEC may equal
    uint32_t next_id; // of a type of the link part

    /// Returns the position where the words of the new type begin.
    size_t append(std::initializer_list<uint32_t> type)
    {
        const size_t begin = words.size();
        words.insert(words.end(), type);
        return begin;
    }

    /// Gives an id to the type that begins at `begin`. If there is an equal type, drops the words
    /// and returns the other's id.
    uint32_t finish(size_t begin)
    {
        const uint32_t found = index.add(std::span(words).subspan(begin), next_id);
        if (found == next_id)
            ++next_id;
        else
            words.resize(begin);
        return found;
    }
    /// The same for a FUNC or DATASEC whose name no other one of the result has.
    uint32_t finish_named(size_t begin) { return has_base ? finish(begin) : next_id++; }
};

} // namespace btflink::merge
