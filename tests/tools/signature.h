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

/// Signatures of the types of `btf` and its base, indexed by id; [0] is void's.
std::vector<Signature> signatures(const Btf &btf, Depth depth);

/// The type as one line for people, references spelled by name where they have one.
std::string describe(const Btf &btf, TypeId id);

/// One hash over a list of signatures, in the order given.
Signature digest(const std::vector<Signature> &list);

/// 32 hexadecimal digits.
std::string hex(const Signature &signature);

} // namespace btflink::tools
