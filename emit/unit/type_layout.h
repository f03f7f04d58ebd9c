// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Answers questions about C types that no single DWARF attribute answers: sizes, alignments,
// offsets of members and bitfields, whether a struct is packed. All walks along type references are
// bounded, because they may form cycles.
#pragma once

#include "emit/tree/die_tree.h"
#include "emit/tree/unit_file.h"

#include <unordered_map>
#include <vector>

namespace btflink::emit
{

/// Is it the type of nullptr (C++, C23)? The assembler has a nameless type with the same tag.
bool is_null_pointer(const Die &d);

/// Longer chains of references are cycles.
constexpr unsigned max_chain = 1000;

class TypeLayout
{
public:
    explicit TypeLayout(const DieTree &tree) : tree_(tree) {}

    /// The DIE to which DW_AT_type of `die` refers, through DW_TAG_atomic_type; 0: void or unknown.
    DieIndex target(const Die &die) const
    {
        const DieIndex i = tree_.find(die.type);
        return tree_.atomics ? behind_atomics(i) : i;
    }
    /// The same, also through typedefs, const, volatile and restrict.
    DieIndex stripped_target(const Die &die) const;
    /// The same, through all types for which passes(type) is true.
    template <typename Passes>
    DieIndex target_past(const Die &die, Passes passes) const
    {
        DieIndex i = target(die);
        for (unsigned n = 0; i && passes(tree_.at(i)); ++n)
            i = n < max_chain ? target(tree_.at(i)) : 0;
        return i;
    }

    /// Why the type at `i` is incomplete: "is only declared" or "is of a kind ..."; null if it is
    /// complete.
    const char *why_incomplete(DieIndex i) const;
    /// Does `die` return a struct that is only declared?
    bool is_declared_result(const Die &die) const;
    /// Size in bytes of the type at `i`; 0 if it has none (void, functions, flexible arrays).
    uint64_t size(DieIndex i) const;
    /// Size in bytes of a C++ pointer to member. A pointer to member function has two words.
    uint64_t member_pointer_size(const Die &die) const;
    /// Size in bytes of a parameter: the first DW_AT_byte_size along its chain of types. Pointers
    /// have the address size.
    uint64_t parameter_size(const Die &die) const;
    /// The number of elements in each dimension of an array, in C's order; 0 if unknown. Never
    /// empty.
    std::vector<uint32_t> array_dimensions(DieIndex i) const;
    /// A struct without holes or tail padding, whose layout is only possible with "packed".
    bool is_packed_struct(DieIndex i, ByteOrder order) const;
    /// Bit offset of a member from the start of its struct or union.
    uint64_t member_bit_offset(const Die &member, ByteOrder order) const;

private:
    DieIndex behind_atomics(DieIndex i) const;
    uint64_t alignment(DieIndex i, unsigned depth) const;
    uint64_t find_alignment(DieIndex i, unsigned depth) const;

    const DieTree &tree_;
    // Known alignments. They also end walks over types that contain each other.
    mutable std::unordered_map<DieIndex, uint64_t> alignments_;
};

} // namespace btflink::emit
