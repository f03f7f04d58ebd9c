// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// How many bytes the types of a blob take, and what they are behind their modifiers (TYPEDEF,
// CONST, VOLATILE, RESTRICT, TYPE_TAG).
#pragma once

#include "common/btf/btf.h"

#include <unordered_map>
#include <vector>

namespace btflink
{

class TypeSizes
{
public:
    /// No size: void, functions, forward declarations, declarations of variables and tags, and what
    /// is one of these behind its modifiers or has it as its element.
    static constexpr uint64_t unsized = UINT64_MAX;

    /// Of all types of `btf`, and what they refer to in its base (of a variable: its type, too).
    /// `pointer_size`: bytes, of the target. Error: a loop of pointers and modifiers, or one of
    /// structs, unions, arrays and modifiers.
    static Result<TypeSizes> compute(const Btf &btf, const Where &where, uint32_t pointer_size);

    /// Bytes. An array of more than 4 GB counts as 4 GB.
    uint64_t of(TypeId id) const { return id == void_id ? unsized : sizes_[place(id)]; }
    TypeId behind_modifiers(TypeId id) const { return id == void_id ? id : targets_[place(id)]; }

private:
    friend class TypeSizer;
    size_t place(TypeId id) const
    {
        return raw(id) >= first_ ? raw(id) - first_ : base_places_.at(raw(id));
    }

    // The blob's own types, then those of its base: few of many.
    uint32_t first_ = 1;
    std::unordered_map<uint32_t, uint32_t> base_places_;
    std::vector<uint64_t> sizes_;
    std::vector<TypeId> targets_;
};

/// The error "type 7 (STRUCT 'name'): RULE" for a type of `btf`, at the byte that is `words` 32-bit
/// words behind its first; of its base, without that place. `where`: of the blob.
Failure fail_type(const Btf &btf, TypeId id, const Where &where, const std::string &rule,
                  size_t words = 0);

} // namespace btflink
