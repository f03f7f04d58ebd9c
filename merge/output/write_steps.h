// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the merged types, functions and variables as BTF: the steps of write_btf.cc, and what they
// share.
#pragma once

#include "common/btf/btf.h"
#include "common/btf/btf_builder.h"
#include "common/graph/tables.h"
#include "merge/base_index/base_index.h"
#include "merge/dedup/dedup.h"
#include "merge/dedup/hash_bits.h"
#include "merge/link/select.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::merge
{

/// Returns BTF in byte order `order` that extends the base of `sources`, if there is one. `index`:
/// finds strings and types in the base; null: none are shared. Error, reported for `where`: the
/// result is too large for one blob.
Result<std::vector<std::byte>> write_types(const std::vector<Object> &objects,
                                           const Sources &sources, const Partition &partition,
                                           const Functions &functions, const Variables &variables,
                                           const BaseIndex *index, ByteOrder order,
                                           const Where &where);

// distil.cc: makes split BTF that works with kernels other than the one it was made for.

struct DistilledBtf {
    std::vector<std::byte> base;  // for `.BTF.base`
    std::vector<std::byte> split; // extends it; for `.BTF`
};

/// `split` extends a base. Errors: the distilled base would be empty; `split` refers to a VAR or
/// DATASEC of its base, which a distilled base cannot have.
Result<DistilledBtf> distil(const Btf &split, ByteOrder order, const Where &where);

/// Strings of the result, each once, in order of first reference. If the base has the same string,
/// the base's offset is used.
class ResultStrings
{
public:
    /// `index`: finds strings in the base; may be null. `expected`: about how many strings there
    /// will be.
    ResultStrings(const Btf *base, const BaseIndex *index, size_t expected)
        : index_(index), own_(base ? static_cast<uint32_t>(base->strings().size()) : 0)
    {
        own_.reserve(expected, 0);
    }

    /// Offset of the string, added if new.
    uint32_t add(std::string_view text)
    {
        if (index_ && !text.empty())
            if (auto place = index_->find_string(text))
                return *place;
        return raw(own_.add(text));
    }
    const std::string &blob() const { return own_.blob(); }
    bool is_full() const { return own_.is_full(); }

private:
    const BaseIndex *index_;
    StringTable own_;
};

/// Finds types by their words.
class WordIndex
{
public:
    /// `base`: an index of the base, whose types count as added; may be null.
    explicit WordIndex(const BaseIndex *base) : base_(base) {}

    /// Adds a type. If the base has a type with the same words, or one was added earlier, returns
    /// the id of that type; otherwise `id`.
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

/// The types and strings of the result under construction.
struct ResultTypes {
    std::vector<uint32_t> words; // of all types, those of the base excluded
    ResultStrings strings;
    WordIndex index;  // of types that a type of the link part may equal
    bool has_base;    // FUNCs may equal those of the base
    uint32_t next_id; // of the next type of the link part

    /// Appends a new type, or further words of the last one. Returns where these words begin.
    size_t append(std::initializer_list<uint32_t> type)
    {
        const size_t begin = words.size();
        words.insert(words.end(), type);
        return begin;
    }

    /// Gives an id to the type whose words begin at `begin`. If there is an equal type, drops the
    /// words and returns the id of that type.
    uint32_t finish(size_t begin)
    {
        const uint32_t found = index.add(std::span(words).subspan(begin), next_id);
        if (found == next_id)
            ++next_id;
        else
            words.resize(begin);
        return found;
    }
    /// Like finish(), for a FUNC that equals no other type of the result. It may equal one of the
    /// base.
    uint32_t finish_function(size_t begin) { return has_base ? finish(begin) : next_id++; }
};

/// What earlier passes decided about the result.
struct ResultParts {
    const std::vector<Object> &objects;
    const Sources &sources;
    const Partition &partition;
    const Functions &functions;
    const Variables &variables;

    const Btf *base() const { return sources.has_base ? sources.list[0].btf : nullptr; }
};

/// The ids of plain types and VARs.
struct ResultIds {
    std::vector<ClassId> order; // classes, sorted by their lowest types
    IdVector<ClassId, uint32_t> of_class;
    std::vector<std::vector<uint32_t>> of_variable; // [object][variable]
    uint32_t end = 1;                               // the id after the last

    uint32_t of(const ResultParts &parts, uint32_t source, uint32_t type) const
    {
        const Sources &all = parts.sources;
        return type ? of_class[parts.partition.class_of(all.index(source, TypeId{type}))] : 0;
    }
    uint32_t of_object(const ResultParts &parts, uint32_t object, uint32_t type) const
    {
        return of(parts, parts.sources.of_object[object], type);
    }
};

// plain_types.cc
ResultIds number_types(const ResultParts &parts);
void write_plain_types(const ResultParts &parts, const ResultIds &ids, ResultTypes &out);

// link_part.cc
void write_link_part(const ResultParts &parts, const ResultIds &ids, ResultTypes &out);

} // namespace btflink::merge
