// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The two hashes in object BTF: the stub hash of each type, and the loose hash of each function's
// prototype. common/FORMAT.md specifies them bit by bit.
#pragma once

#include "common/btf/btf.h"

#include <compare>
#include <memory>
#include <span>
#include <vector>

namespace btflink
{

/// 128 bits of XXH3. In object BTF: low half, then high half, each always little-endian.
struct Hash128 {
    uint64_t low = 0, high = 0;
    auto operator<=>(const Hash128 &) const = default;
};

/// A slot of an OpenTable (common/graph/tables.h) whose keys are hashes of types. Hashes are random
/// already, so home() is the low half as it is.
struct HashSlot {
    Hash128 hash;
    uint32_t entry = 0; // index of the key's entry + 1; 0: free

    bool is_free() const { return entry == 0; }
    uint64_t home() const { return hash.low; }
};

/// 'S' or 'U' if references to the type are hashed by this letter and the type's name alone (a
/// named struct, a named union, or a forward declaration of one); otherwise 0.
inline char reference_letter(const Btf &btf, TypeId id)
{
    if (id == void_id)
        return 0;
    const btf_type &t = btf.type(id);
    const btf::Family family = btf::kind_info(t).family;
    const bool is_named = family == btf::Family::composite && *btf.text(t.name_off);
    if (!is_named && family != btf::Family::forward)
        return 0;
    return btf::is_union(t) ? 'U' : 'S';
}

/// Stub hashes of all types of `btf`, without its base, in id order. Types with different stub
/// hashes differ, unless cycle_hashes() took too long. Types with the same stub hash are equal if
/// no struct or union name that they reach has several definitions.
std::vector<Hash128> stub_hashes(const Btf &btf);
/// The same for types that were added to a Btf. `known`: the hashes of the first types, without the
/// base; those of the rest are appended. If the first types have a cycle without a named struct or
/// union, an added type that reaches it gets another hash than stub_hashes(btf) would give it,
/// because the hashes of the cycle come from `known`.
void complete_stub_hashes(const Btf &btf, std::vector<Hash128> &known);
/// The hashes in the trailer of an object: first those of its plain types, then, by
/// complete_stub_hashes(), those of its other types.
std::vector<Hash128> stub_hashes(const Btf &btf, TypeId plain_end);

/// Computes loose hashes of prototypes, and caches those of types. Instances of a function agree if
/// their prototypes have the same loose hash. The hash ignores parameter names, texts of type tags,
/// and const (except in const void); structs, unions, enums and typedefs count by name; a forward
/// declaration counts as its struct or union.
class LooseHasher
{
public:
    explicit LooseHasher(const Btf &btf);
    ~LooseHasher();
    /// `params`: the parameter types in order; a trailing void stands for "...".
    uint64_t prototype(TypeId result, std::span<const TypeId> params);

private:
    Hash128 of(TypeId id);

    const Btf &btf_;
    std::vector<Hash128> memo_;
    std::vector<uint8_t> state_;
    struct Buffers; // reused from call to call
    std::unique_ptr<Buffers> buffers_;
};

// cycle_hash.cc: stub hashes of types that reach a cycle without a named struct or union. C has no
// such cycles; a recursive function type of another language is one. See common/FORMAT.md, 6.

/// Returns a hash for each of the types 0 to refs.size() - 1. `refs[i]`: the types that type i
/// refers to, in order. `own[i]`: a hash of everything else in type i. Different types get
/// different hashes, and equal types equal ones, also in different blobs. But if the types are too
/// many to be compared, such as hundreds that all reach each other, equal types may get different
/// hashes.
std::vector<Hash128> cycle_hashes(const std::vector<std::vector<uint32_t>> &refs,
                                  const std::vector<Hash128> &own);

} // namespace btflink
