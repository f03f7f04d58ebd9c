// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What a type means, whatever its id and wherever its strings lie: the unit of comparison of
// btf-compare. Deliberately independent of common/type_hash, which it judges.
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
    /// A reference to a named struct or union counts as its kind and name; a forward declaration
    /// counts as what it declares. Two types differ if they are spelled differently.
    names,
    /// Nothing is ignored: references count with all that they reach, so that it matters which of
    /// several structs of one name is meant, and whether it is only a forward declaration.
    all,
};

/// How an array whose elements are arrays counts.
enum class Arrays : uint8_t {
    as_written,
    /// As one array with the product of the dimensions, as pahole wrote them up to 1.31.
    flat,
};

/// Signatures of types by id. That of void is zeros.
class SignatureTable
{
public:
    /// `base`: a table of the base of `btf`, made with the same `depth` and `arrays`, which must
    /// outlive this one: many modules over one base need it once. nullptr: the types of the base
    /// are in this table, too.
    explicit SignatureTable(const Btf &btf, Depth depth, Arrays arrays = Arrays::as_written,
                            const SignatureTable *base = nullptr);

    const Signature &of(TypeId id) const
    {
        return raw(id) < first_ ? base_->of(id) : types_[raw(id) - first_];
    }

private:
    /// What a reference to a type counts as.
    const Signature &reference(uint32_t id) const
    {
        if (id < first_)
            return base_->reference(id);
        const Signature &name = by_name_[id - first_];
        return name == Signature{} ? types_[id - first_] : name;
    }

    const SignatureTable *base_;
    uint32_t first_; // the id that the vectors begin with
    std::vector<Signature> types_;
    std::vector<Signature> by_name_; // of a reference that is cut, or zeros
};

/// The type as one line for people, references spelled by name where they have one.
std::string describe(const Btf &btf, TypeId id);

/// One hash over a list of signatures, in the order given.
Signature digest(const std::vector<Signature> &list);

/// 32 hexadecimal digits.
std::string hex(const Signature &signature);

} // namespace btflink::tools
