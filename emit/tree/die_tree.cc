// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Chooses the entries that a tree keeps, joins trees, and makes the index for DieTree::find().
#include "emit/tree/die_tree.h"

#include <algorithm>
#include <dwarf.h>
#include <set>

namespace btflink::emit
{

Keep keep_tag(uint32_t tag, uint32_t parent_tag, bool top_level)
{
    const bool is_struct = parent_tag == DW_TAG_structure_type || parent_tag == DW_TAG_class_type ||
                           parent_tag == DW_TAG_union_type;
    switch (tag) {
    case DW_TAG_base_type:
    case DW_TAG_unspecified_type:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_typedef:
    case DW_TAG_template_alias:
    case DW_TAG_array_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_string_type:
    case DW_TAG_subrange_type:
    case DW_TAG_subprogram:
    case tag_llvm_annotation:
    case tag_gnu_annotation:
        return Keep::yes;
    case DW_TAG_member:
    case DW_TAG_inheritance:
        return is_struct ? Keep::yes : Keep::no;
    case DW_TAG_enumerator:
        return parent_tag == DW_TAG_enumeration_type ? Keep::yes : Keep::no;
    case DW_TAG_formal_parameter:
    case DW_TAG_unspecified_parameters:
        return parent_tag == DW_TAG_subprogram || parent_tag == DW_TAG_subroutine_type ||
                       parent_tag == tag_gnu_parameter_pack
                   ? Keep::yes
                   : Keep::no;
    case DW_TAG_variable:
        // clang and rustc define variables inside namespaces, gcc only declares them there. A
        // definition may also refer to a declaration inside a function or a class.
        return top_level || parent_tag == DW_TAG_subprogram || is_namespace(parent_tag) ||
                       parent_tag == DW_TAG_lexical_block || is_struct
                   ? Keep::yes
                   : Keep::no;
    case tag_gnu_parameter_pack:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
        return Keep::children_only;
    default: // such as DW_TAG_inlined_subroutine: the abstract instance has all types
        return Keep::no;
    }
}

void DieTree::end_die(DieIndex i)
{
    dies[i].end = static_cast<DieIndex>(dies.size());
    if (dies[i].tag == DW_TAG_subrange_type && dies[dies[i].parent].tag != DW_TAG_array_type)
        return end_subtype(i);
    if (dies[i].tag == DW_TAG_template_alias)
        dies[i].tag = DW_TAG_typedef;
    switch (dies[i].tag) {
    case DW_TAG_member:
    case DW_TAG_inheritance:
    case DW_TAG_enumerator:
    case DW_TAG_subrange_type:
    case DW_TAG_formal_parameter:
    case DW_TAG_unspecified_parameters:
    case tag_llvm_annotation:
    case tag_gnu_annotation:
        break;
    case DW_TAG_subprogram:
        functions.push_back(i);
        break;
    case DW_TAG_variable:
        variables.push_back(i);
        break;
    default:
        types.push_back(i);
        break;
    }
}

/// Ada and Pascal have subtypes, such as the integers from 0 to 99. One without name and size is
/// treated like _Atomic: references to it lead to the type behind it.
void DieTree::end_subtype(DieIndex i)
{
    Die &d = dies[i];
    if (!d.name && !d.byte_size) {
        d.tag = DW_TAG_atomic_type;
        atomics = true;
        return;
    }
    types.push_back(i);
    d.tag = DW_TAG_typedef;
    if (d.byte_size) { // given only if the type behind it has another size
        d.tag = DW_TAG_base_type;
        d.encoding = d.bit_offset < 0 ? DW_ATE_signed : DW_ATE_unsigned;
    }
}

void DieTree::append(const DieTree &other)
{
    const auto base = static_cast<DieIndex>(dies.size() - 1);
    const auto first_address = static_cast<uint32_t>(addresses.size());
    for (DieIndex i = 1; i < other.dies.size(); ++i) {
        Die &d = dies.emplace_back();
        d = other.at(i);
        d.parent += d.parent ? base : 0;
        d.end += base;
        d.address += d.address ? first_address : 0;
    }
    auto add = [&](std::vector<DieIndex> &to, const std::vector<DieIndex> &from) {
        for (DieIndex i : from)
            to.push_back(i + base);
    };
    add(types, other.types);
    add(functions, other.functions);
    add(variables, other.variables);
    addresses.insert(addresses.end(), other.addresses.begin(), other.addresses.end());
    annotations |= other.annotations;
    atomics |= other.atomics;
}

const UnitLanguage *DieTree::language_of(const Die &d) const
{
    auto behind = std::ranges::upper_bound(languages, d.offset, {}, &UnitLanguage::offset);
    return behind == languages.begin() ? nullptr : &*std::prev(behind);
}

void DieTree::drop_functions_and_variables()
{
    functions.clear();
    variables.clear();
}

void DieTree::drop_specified()
{
    std::set<uint32_t> specified;
    for (DieIndex i : types)
        specified.insert(at(i).specification);
    std::erase_if(types, [&](DieIndex i) {
        return at(i).is(Die::declaration) && specified.contains(at(i).offset);
    });
}

/// Does the work of find() without buckets.
DieIndex DieTree::search(uint32_t offset) const
{
    const auto found = std::ranges::lower_bound(dies, offset, {}, &Die::offset);
    return found != dies.end() && found->offset == offset
               ? static_cast<DieIndex>(found - dies.begin())
               : 0;
}

void DieTree::index()
{
    buckets_.clear();
    if (dies.size() < 2)
        return;
    first_offset_ = dies[1].offset;
    const uint32_t count = (dies.back().offset - first_offset_) / 16 + 1;
    // A small unit and the partial units or type units that it needs may be at opposite ends of a
    // large section. If there are many such units, making buckets for each would take too long.
    if (count > 64 * dies.size())
        return;
    buckets_.resize(count);
    offsets_.resize(dies.size() + 1, UINT32_MAX);
    for (auto i = static_cast<DieIndex>(dies.size() - 1); i > 0; --i) {
        offsets_[i] = dies[i].offset;
        buckets_[(offsets_[i] - first_offset_) / 16] = i;
    }
    for (size_t b = buckets_.size(); b-- > 1;) // an empty bucket gets the first DIE behind it
        if (buckets_[b - 1] == 0)
            buckets_[b - 1] = buckets_[b];
}

} // namespace btflink::emit
