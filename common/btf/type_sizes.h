// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The sizes of types in bytes, and the types behind modifiers (TYPEDEF, CONST, VOLATILE, RESTRICT,
// TYPE_TAG).
#pragma once

#include "common/btf/btf.h"

#include <unordered_map>
#include <vector>

namespace btflink
{

class TypeSizes
{
public:
    /// The size of void, functions, forward declarations, variables and tags, and of modifiers and
    /// arrays of these.
    static constexpr uint64_t unsized = UINT64_MAX;

    /// For all types of `btf`, the types of its base that they refer to, and the types of these
    /// variables. `pointer_size`: the target's, in bytes. Errors: a loop of pointers and modifiers,
    /// or of structs, unions, arrays and modifiers.
    static Result<TypeSizes> compute(const Btf &btf, const Where &where, uint32_t pointer_size);

    /// In bytes. Arrays of more than 4 GB count as 4 GB.
    uint64_t of(TypeId id) const { return id == void_id ? unsized : sizes_[place(id)]; }
    TypeId behind_modifiers(TypeId id) const { return id == void_id ? id : targets_[place(id)]; }

private:
    friend class TypeSizer;
    size_t place(TypeId id) const
    {
        return raw(id) >= first_ ? raw(id) - first_ : base_places_.at(raw(id));
    }

    // The blob's own types, and the few types of its base that are needed.
    uint32_t first_ = 1;
    std::unordered_map<uint32_t, uint32_t> base_places_;
    std::vector<uint64_t> sizes_;
    std::vector<TypeId> targets_;
};

/// The error "type 7 (STRUCT 'name'): RULE" at `words` 32-bit words after the start of the type;
/// without an offset for a type of the base. `where`: the position of the blob.
Failure fail_type(const Btf &btf, TypeId id, const Where &where, const std::string &rule,
                  size_t words = 0);

} // namespace btflink
