// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Internal to the files that implement btf_check.h: sizes of types, the rules, and how violations
// are reported.
#pragma once

#include "common/btf/btf.h"
#include "common/btf/btf_check.h"

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace btflink
{

// type_sizes.cc: the sizes of types in bytes, and the types behind modifiers (TYPEDEF, CONST,
// VOLATILE, RESTRICT, TYPE_TAG).

class TypeSizes
{
public:
    /// The size of void, FUNC, FUNC_PROTO, FWD, VAR, DATASEC and DECL_TAG, and of modifiers and
    /// arrays of these.
    static constexpr uint64_t unsized = UINT64_MAX;

    /// Measures all types of `btf`, the types of its base that they refer to, and the parts of
    /// those. `pointer_size`: the target's, in bytes. Errors: a loop of pointers and modifiers, or
    /// of structs, unions, arrays and modifiers.
    static Result<TypeSizes> compute(const Btf &btf, const Where &where, uint32_t pointer_size);

    /// The size of a type in bytes, or `unsized`. Arrays of more than 4 GB count as 4 GB.
    uint64_t of(TypeId id) const { return id == void_id ? unsized : sizes_[place(id)]; }
    /// The type at the end of the chain of modifiers that begins with `id`; `id` itself if it is
    /// not a modifier.
    TypeId behind_modifiers(TypeId id) const { return id == void_id ? id : targets_[place(id)]; }

private:
    friend class TypeSizer;
    size_t place(TypeId id) const
    {
        return raw(id) >= first_ ? raw(id) - first_ : base_places_.at(raw(id));
    }

    // sizes_ and targets_ have the blob's own types, then the few types of its base that are
    // needed.
    uint32_t first_ = 1;                                 // id of the blob's first type
    std::unordered_map<uint32_t, uint32_t> base_places_; // id of a type of the base to its index
    std::vector<uint64_t> sizes_;
    std::vector<TypeId> targets_;
};

/// The error "type 7 (STRUCT 'name'): RULE" at `words` 32-bit words after the start of the type.
/// `where`: the position of the blob. An error in a type of the base has this position, too,
/// because that of the base is not known.
Failure fail_type(const Btf &btf, TypeId id, const Where &where, const std::string &rule,
                  size_t words = 0);

/// The state of a check.
struct BtfCheckState {
    const Btf &btf;
    const Where &where;
    uint32_t pointer_size;
    std::optional<KernelVersion> kernel;
    // If set: the types to check, by index; others are only searched for loops. Names of any length
    // are then accepted, and check_modifier_chain() is not called. See mend_btf().
    const std::vector<bool> *only = nullptr;
    TypeSizes sizes = {};                        // from the third pass on
    std::optional<KernelForms> known_forms = {}; // set by forms() when a type needs them
    std::vector<bool> identifiers = {};          // by string offset; see is_identifier_at()
    // By id of a FUNC_PROTO: the index of its first parameter without a name; see
    // check_func().
    std::unordered_map<TypeId, std::optional<uint32_t>> unnamed_parameters = {};

    const KernelForms &forms();
};

/// Up to `most` violations, all from the first pass, or part of a pass, that finds any.
std::vector<Error> run_check(Bytes blob, BtfCheckState c, size_t most);

// The rules of the second and fourth pass (btf_check.cc lists the passes). The next three functions
// return the first violation of a type.

/// Second pass: the words of the type itself, such as names, flags, counts, sizes and offsets.
Result<void> check_alone(BtfCheckState &c, TypeId id);
/// Fourth pass: the type against the types that it refers to.
Result<void> check_targets(BtfCheckState &c, TypeId id);
/// Fourth pass: the number of modifiers in a row, and where TYPE_TAGs are among them.
Result<void> check_modifier_chain(BtfCheckState &c, TypeId first);

/// The error for a violation `words` 32-bit words after the start of a type.
Failure violation(const BtfCheckState &c, TypeId id, const std::string &rule, size_t words = 0);
/// The error for a violation by an element: "member 2 'next': RULE".
Failure element_violation(const BtfCheckState &c, TypeId id, uint32_t index,
                          const std::string &rule);

/// Is the string at `offset` an identifier of a length that kernels accept? For a string of the
/// blob itself, the answer "yes" is cached, because most names are used more than once.
bool is_identifier_at(BtfCheckState &c, uint32_t offset);
bool is_short_enough(BtfCheckState &c, std::string_view name);
/// The text of the violation if a name is too long.
std::string too_long(BtfCheckState &c, std::string_view name);
/// The text of the violation if is_identifier_at() is false for the name at `offset`.
std::string identifier_fault(BtfCheckState &c, uint32_t offset);

struct IntLayout {
    uint32_t offset, bits; // in bits
    bool regular;          // the offset is 0, and there are 8, 16, 32, 64 or 128 bits
};
/// Precondition: `t` is an INT.
IntLayout layout_of(const btf_type &t);

/// The most bits of a bitfield of an enum. In a struct with kflag, an enum of 8 bytes that is not a
/// bitfield also counts as this many bits.
constexpr uint32_t max_enum_bits = 32;

/// The bit offset of member `m` of `t`.
inline uint32_t bit_offset(const btf_type &t, const btf_member &m)
{
    return btf::kflag_of(t) ? BTF_MEMBER_BIT_OFFSET(m.offset) : m.offset;
}

template <typename Element>
std::span<const Element> elements(const btf_type &t)
{
    return {reinterpret_cast<const Element *>(btf::tail_of(t)), btf::vlen_of(t)};
}

} // namespace btflink
