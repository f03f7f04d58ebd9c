// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds sizes, alignments and offsets, incomplete types and packed structs, by following the
// references between types.
#include "emit/unit/unit_passes.h"

#include <algorithm>
#include <dwarf.h>
#include <string_view>

namespace btflink::emit
{

namespace
{

constexpr unsigned max_nesting = 100; // of structs and arrays; deeper nesting counts as a cycle

/// Longer chains of _Atomic and of nameless subtypes (DieTree::end_subtype()) are taken for cycles.
/// The limit is far below max_chain, because each of max_chain types may have such a chain behind
/// it.
constexpr unsigned max_atomics = 16;

bool is_modifier(unsigned tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type;
}

bool is_pointer(const Die &d)
{
    return d.tag == DW_TAG_pointer_type || d.tag == DW_TAG_reference_type ||
           d.tag == DW_TAG_rvalue_reference_type || is_null_pointer(d);
}

/// Where a member of a struct is, in bits from the start of the struct.
struct MemberBits {
    MemberBits(uint64_t offset, uint64_t bitfield, uint64_t type_size)
        : begin(offset), end(offset + (bitfield ? bitfield : type_size)),
          unit_size(bitfield ? type_size : 0),
          unit(unit_size ? offset / unit_size * unit_size : offset)
    {
    }

    uint64_t begin, end;
    uint64_t unit_size; // of a bitfield's storage unit; 0: not a bitfield
    uint64_t unit;      // where the storage unit begins; `begin` if this is not a bitfield
};

/// Do the members of a struct leave some of its bytes unused, also at its end? Unused bits of a
/// byte, or of a bitfield's storage unit, do not count. `members`: in the order of their entries.
/// `struct_end`: in bits.
bool has_holes(std::span<const MemberBits> members, uint64_t struct_end)
{
    uint64_t used = 0; // the end of the used bits
    // The storage unit of the previous member, if that is a bitfield.
    uint64_t unit_size = 0, unit_end = 0;
    for (const MemberBits &m : members) {
        if (unit_size) // the rest of the storage unit counts as used
            used = std::min(m.begin, unit_end);
        if (m.unit / 8 > used / 8)
            return true;
        used = m.end;
        if (!m.unit_size) {
            unit_size = unit_end = 0;
        } else if (m.end > unit_end || m.unit_size > unit_size) {
            unit_size = m.unit_size;
            unit_end = m.unit + unit_size;
            if (m.end > unit_end) // the bitfield extends into the next unit
                unit_end += unit_size;
        }
    }
    if (unit_size)
        used = std::min(struct_end, unit_end);
    return used / 8 != struct_end / 8;
}

} // namespace

bool is_null_pointer(const Die &d)
{
    return d.tag == DW_TAG_unspecified_type && d.name &&
           std::string_view(d.name).find("nullptr") != std::string_view::npos;
}

DieIndex TypeLayout::behind_atomics(DieIndex i) const
{
    for (unsigned n = 0; i && tree_.at(i).tag == DW_TAG_atomic_type; ++n)
        i = n < max_atomics ? tree_.find(tree_.at(i).type) : 0;
    return i;
}

DieIndex TypeLayout::stripped_target(const Die &die) const
{
    return target_past(die, [](const Die &d) { return is_modifier(d.tag); });
}

const char *TypeLayout::why_incomplete(DieIndex i) const
{
    constexpr const char *not_in_btf = "is of a kind that BTF does not have";
    for (unsigned n = 0; i && n < max_chain; ++n) {
        const Die &d = tree_.at(i);
        switch (d.tag) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            return d.is(Die::declaration) ? "is only declared" : nullptr;
        case DW_TAG_base_type:
            return d.name ? nullptr : not_in_btf;
        case DW_TAG_unspecified_type:
            return is_null_pointer(d) ? nullptr : not_in_btf;
        case DW_TAG_string_type:
        case DW_TAG_interface_type:
            return not_in_btf;
        default:
            if (!is_modifier(d.tag) && d.tag != DW_TAG_array_type)
                return nullptr;
        }
        i = target(d);
    }
    return not_in_btf;
}

bool TypeLayout::is_declared_result(const Die &die) const
{
    const Die &d = tree_.at(stripped_target(die));
    return d.is(Die::declaration) && d.tag != DW_TAG_enumeration_type;
}

/// The product of an array's dimensions.
uint64_t TypeLayout::array_length(DieIndex i) const
{
    auto [known, is_new] = array_lengths_.try_emplace(i, 1);
    if (is_new)
        for (uint32_t dimension : array_dimensions(i))
            known->second *= dimension;
    return known->second;
}

/// Does a struct, class or union have neither members nor base classes? As in pahole, a class with
/// a base class is not empty, whatever the base class is. size() also checks that the type has one
/// byte, the size that C++ gives an empty class.
bool TypeLayout::is_empty_class(DieIndex i) const
{
    auto [known, is_new] = empty_classes_.try_emplace(i, true);
    bool &is_empty = known->second;
    if (is_new)
        tree_.for_each_child(i, [&](const Die &c, DieIndex) {
            if (c.tag == DW_TAG_inheritance || c.tag == DW_TAG_member)
                is_empty = false;
        });
    return is_empty;
}

uint64_t TypeLayout::size(DieIndex i) const
{
    uint64_t factor = 1;
    for (unsigned n = 0; i && n < max_chain; ++n) {
        const Die &d = tree_.at(i);
        if (is_pointer(d))
            return factor * tree_.address_size;
        if (d.tag == DW_TAG_ptr_to_member_type)
            return factor * member_pointer_size(d);
        if (d.tag == DW_TAG_array_type) {
            factor *= array_length(i);
        } else if (d.tag == DW_TAG_structure_type || d.tag == DW_TAG_union_type ||
                   d.tag == DW_TAG_class_type) {
            return d.byte_size == 1 && is_empty_class(i) ? 0 : factor * d.byte_size;
        } else if (!is_modifier(d.tag) && d.tag != DW_TAG_atomic_type) {
            if (d.tag == DW_TAG_enumeration_type && d.byte_size == 0)
                return factor * 4;
            return factor * d.byte_size;
        }
        i = target(d);
    }
    return 0;
}

uint64_t TypeLayout::member_pointer_size(const Die &die) const
{
    const bool function = tree_.at(stripped_target(die)).tag == DW_TAG_subroutine_type;
    return tree_.address_size * (function ? 2u : 1u);
}

uint64_t TypeLayout::parameter_size(const Die &die) const
{
    DieIndex i = tree_.find(die.type);
    for (unsigned n = 0; i && n < max_chain; ++n) {
        const Die &d = tree_.at(i);
        if (is_pointer(d)) // clang states no size of references
            return tree_.address_size;
        if (d.tag == DW_TAG_ptr_to_member_type)
            return member_pointer_size(d);
        if (d.byte_size)
            return d.byte_size;
        i = tree_.find(d.type);
    }
    return 0;
}

/// The number of elements of an array's dimension; 0 if it is unknown.
uint64_t TypeLayout::element_count(const Die &subrange) const
{
    if (!subrange.is(Die::upper_bound))
        return subrange.value;
    if (subrange.is(Die::unknown_bound))
        return 0;
    int64_t first = subrange.bit_offset;
    if (!subrange.is(Die::lower_bound)) {
        const UnitLanguage *language = tree_.language_of(subrange);
        first = language && language->counts_from_1;
    }
    // Bounds may be negative, and the upper one may be below the lower one.
    const auto count = static_cast<int64_t>(subrange.value - static_cast<uint64_t>(first));
    return count > 0 ? static_cast<uint64_t>(count) : 0;
}

std::vector<uint32_t> TypeLayout::array_dimensions(DieIndex i) const
{
    std::vector<uint32_t> dimensions;
    tree_.for_each_child(i, [&](const Die &c, DieIndex) {
        if (c.tag == DW_TAG_subrange_type)
            dimensions.push_back(static_cast<uint32_t>(element_count(c)));
    });
    if (dimensions.empty())
        dimensions.push_back(0);
    return dimensions;
}

uint64_t TypeLayout::alignment(DieIndex i, unsigned depth) const
{
    if (!i || depth > max_nesting)
        return 1;
    const bool is_new = alignments_.try_emplace(i, 1).second;
    if (is_new)
        alignments_[i] = find_alignment(i, depth);
    return alignments_[i];
}

uint64_t TypeLayout::find_alignment(DieIndex i, unsigned depth) const
{
    const Die &d = tree_.at(i);
    uint64_t result = 1;
    switch (d.tag) {
    case DW_TAG_pointer_type:
    case DW_TAG_unspecified_type:
        result = tree_.address_size;
        break;
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
        result = d.byte_size;
        break;
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        tree_.for_each_child(i, [&](const Die &m, DieIndex) {
            if (m.tag == DW_TAG_member)
                result = std::max(result, alignment(stripped_target(m), depth + 1));
        });
        break;
    case DW_TAG_array_type:
        result = alignment(stripped_target(d), depth + 1);
        break;
    default:
        break;
    }
    return result ? result : 1;
}

bool TypeLayout::is_packed_struct(DieIndex i, ByteOrder order) const
{
    auto [known, is_new] = packed_structs_.try_emplace(i);
    if (is_new)
        known->second = find_packed(i, order);
    return known->second;
}

bool TypeLayout::find_packed(DieIndex i, ByteOrder order) const
{
    const Die &d = tree_.at(i);
    if (d.tag != DW_TAG_structure_type || d.is(Die::declaration))
        return false;
    std::vector<MemberBits> members;
    uint64_t widest = 1;
    bool misaligned = false;
    tree_.for_each_child(i, [&](const Die &member, DieIndex) {
        if (member.tag != DW_TAG_member)
            return;
        const uint64_t bytes = member.byte_size ? member.byte_size : size(tree_.find(member.type));
        members.emplace_back(member_bit_offset(member, order), member.bit_size, bytes * 8);
        const uint64_t natural = alignment(stripped_target(member), 0);
        widest = std::max(widest, natural);
        misaligned |= members.back().unit / 8 % natural != 0;
    });
    return (misaligned || d.byte_size % widest) && !has_holes(members, d.byte_size * 8);
}

uint64_t TypeLayout::member_bit_offset(const Die &member, ByteOrder order) const
{
    if (member.is(Die::data_bit_offset))
        return member.value;
    uint64_t offset = member.value * 8;
    if (!member.bit_size || !member.is(Die::msb_offset))
        return offset;
    // DW_AT_bit_offset, the form of DWARF 2 and 3, counts from the most significant bit of the
    // storage unit.
    if (order == ByteOrder::big)
        return offset + static_cast<uint64_t>(int64_t{member.bit_offset});
    uint64_t storage = member.byte_size;
    if (!storage)
        storage = size(stripped_target(member));
    return offset + storage * 8 - static_cast<uint64_t>(int64_t{member.bit_offset}) -
           member.bit_size;
}

} // namespace btflink::emit
