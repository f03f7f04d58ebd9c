// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Signatures of types: hashes of a type's meaning, independent of ids and of the position of
// strings. btf-compare and btf-compare-modules compare signatures. This code does not use
// common/object_btf/type_hash, so that a fault there shows as a difference between signatures.
#pragma once

#include "common/btf/btf.h"

#include <array>
#include <string>
#include <vector>

namespace btflink::tools
{

/// 128 bits; [0] is the low half.
using Signature = std::array<uint64_t, 2>;

enum class Depth : uint8_t {
    /// A reference to a named struct or union counts by kind and name, and so does a reference to
    /// its forward declaration. The signatures of the struct and of its declaration differ.
    names,
    /// References count with everything that they reach. So references to two structs of one name
    /// differ, and so do references to a struct and to its forward declaration.
    all,
};

/// The form in which an array of arrays is compared.
enum class Arrays : uint8_t {
    as_written,
    /// One array with the product of the dimensions, as written by pahole up to 1.31.
    flat,
};

/// The signatures of types, by id. The signature of void is 0.
class SignatureTable
{
public:
    /// `base` is a table of the base of `btf`, made with the same `depth` and `arrays`; many
    /// modules can share it. It must outlive this table. If it is nullptr, this table also has the
    /// types of the base.
    explicit SignatureTable(const Btf &btf, Depth depth, Arrays arrays = Arrays::as_written,
                            const SignatureTable *base = nullptr);

    const Signature &of(TypeId id) const
    {
        return raw(id) < first_ ? base_->of(id) : types_[raw(id) - first_];
    }

private:
    /// The signature of a reference to a type.
    const Signature &reference(uint32_t id) const
    {
        if (id < first_)
            return base_->reference(id);
        const Signature &name = by_name_[id - first_];
        return name == Signature{} ? types_[id - first_] : name;
    }

    const SignatureTable *base_;
    uint32_t first_; // the first id in the vectors
    std::vector<Signature> types_;
    std::vector<Signature> by_name_; // of references that count by name; others: 0
};

/// A human-readable line about the type. References are written by name if possible.
std::string describe(const Btf &btf, TypeId id);

/// A hash of a list of signatures, in the given order.
Signature digest(const std::vector<Signature> &list);

/// 32 hexadecimal digits.
std::string hex(const Signature &signature);

} // namespace btflink::tools
