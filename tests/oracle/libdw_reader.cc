// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "emit/die_tree.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

/// Entries may nest no deeper; compilers stay below 100. Keeps our recursion bounded.
constexpr unsigned max_depth = 2000;

/// What to do with a DIE.
enum class Keep : uint8_t { no, yes, children_only };

Keep keep_tag(unsigned tag, unsigned parent_tag, bool top_level)
{
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
    case DW_TAG_array_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_string_type:
    case DW_TAG_subprogram:
    case tag_llvm_annotation:
    case tag_gnu_annotation:
        return Keep::yes;
    case DW_TAG_member:
    case DW_TAG_inheritance:
        return parent_tag == DW_TAG_structure_type || parent_tag == DW_TAG_class_type ||
                       parent_tag == DW_TAG_union_type
                   ? Keep::yes
                   : Keep::no;
    case DW_TAG_enumerator:
        return parent_tag == DW_TAG_enumeration_type ? Keep::yes : Keep::no;
    case DW_TAG_subrange_type:
        return parent_tag == DW_TAG_array_type ? Keep::yes : Keep::no;
    case DW_TAG_formal_parameter:
    case DW_TAG_unspecified_parameters:
        return parent_tag == DW_TAG_subprogram || parent_tag == DW_TAG_subroutine_type ? Keep::yes
                                                                                       : Keep::no;
    case DW_TAG_variable:
        // Also declarations inside functions: a definition may refer to one.
        return top_level || parent_tag == DW_TAG_subprogram || parent_tag == DW_TAG_namespace ||
                       parent_tag == DW_TAG_lexical_block
                   ? Keep::yes
                   : Keep::no;
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_namespace:
        return Keep::children_only;
    default:
        return Keep::no;
    }
}

uint64_t unsigned_value(Dwarf_Attribute *attr)
{
    Dwarf_Word value;
    return dwarf_formudata(attr, &value) == 0 ? value : 0;
}

/// DWARF 2 to 4 allow an expression for the offset of a member: a lone DW_OP_plus_uconst (or
/// constant) counts, anything else is not a constant layout.
uint64_t member_offset(Dwarf_Attribute *attr, Skips &skips)
{
    Dwarf_Word value;
    if (dwarf_formudata(attr, &value) == 0)
        return value;
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_getlocation(attr, &ops, &count) == 0 && count == 1 &&
        (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu))
        return ops[0].number;
    ++skips["member-location-not-constant"];
    return 0;
}

class Reader
{
public:
    Reader(const DwarfFile &file, DieTree &tree, Skips &skips)
        : file_(file), tree_(tree), skips_(skips)
    {
    }

    Result<void> unit(const Unit &unit)
    {
        Dwarf_Die die;
        if (!dwarf_offdie(file_.dwarf(), unit.die_offset, &die))
            return file_.dwarf_error(unit.die_offset, "cannot read unit");
        uint8_t address_size = 0, offset_size = 0;
        Dwarf_Die ignored;
        if (!dwarf_diecu(&die, &ignored, &address_size, &offset_size))
            return file_.dwarf_error(unit.die_offset, "cannot read unit");
        if (tree_.dies.size() == 1) {
            tree_.source = dwarf_diename(&die);
            tree_.language = unit.language;
            tree_.address_size = address_size;
            Dwarf_Attribute attr;
            const char *producer =
                dwarf_attr(&die, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : nullptr;
            tree_.clang = producer && std::strstr(producer, "clang");
        }
        return children(die, 0, DW_TAG_compile_unit, true, 0);
    }

private:
    Result<void> children(Dwarf_Die &die, DieIndex parent, unsigned parent_tag, bool top_level,
                          unsigned depth)
    {
        uint64_t offset = dwarf_dieoffset(&die);
        if (depth > max_depth)
            return fail(file_.where().in(".debug_info").at(offset),
                        strf("entries nest deeper than %u", max_depth));
        Dwarf_Die child;
        int found = dwarf_child(&die, &child);
        while (found == 0) {
            RETURN_IF_ERROR(one(child, parent, parent_tag, top_level, depth));
            offset = dwarf_dieoffset(&child);
            found = dwarf_siblingof(&child, &child);
        }
        if (found < 0)
            return file_.dwarf_error(offset, "cannot read the entry behind");
        return {};
    }

    Result<void> one(Dwarf_Die &die, DieIndex parent, unsigned parent_tag, bool top_level,
                     unsigned depth)
    {
        auto tag = static_cast<unsigned>(dwarf_tag(&die));
        uint64_t offset = dwarf_dieoffset(&die);
        if (tag == DW_TAG_invalid)
            return file_.dwarf_error(offset, "cannot read entry");
        // A sibling attribute that points backwards would have us walk in circles.
        if (offset <= last_offset_)
            return fail(file_.where().in(".debug_info").at(offset), "entries are not in order");
        last_offset_ = offset;
        switch (keep_tag(tag, parent_tag, top_level)) {
        case Keep::no:
            return {};
        case Keep::children_only:
            return children(die, parent, tag, false, depth + 1);
        case Keep::yes:
            break;
        }
        auto index = static_cast<DieIndex>(tree_.dies.size());
        tree_.dies.emplace_back();
        Die d;
        d.tag = static_cast<uint16_t>(tag);
        d.parent = parent;
        d.offset = offset;
        if (top_level)
            d.has |= Die::top_level;
        current_ = &d;
        failed_ = false;
        size_t attrs = tree_.attrs.size();
        if (dwarf_getattrs(&die, &Reader::attribute, this, 0) == -1 || failed_)
            return file_.dwarf_error(offset, "cannot read the attributes of this entry");
        if (tag == DW_TAG_variable && !top_level && !d.is(Die::declaration)) {
            tree_.dies.pop_back();
            tree_.attrs.resize(attrs);
            return {};
        }
        tree_.dies[index] = d;
        RETURN_IF_ERROR(children(die, index, tag, false, depth + 1));
        tree_.dies[index].end = static_cast<DieIndex>(tree_.dies.size());
        tree_.completion.push_back(index);
        return {};
    }

    static int attribute(Dwarf_Attribute *attr, void *self)
    {
        static_cast<Reader *>(self)->attribute(attr);
        return DWARF_CB_OK;
    }

    uint64_t reference(Dwarf_Attribute *attr)
    {
        if (attr->form == DW_FORM_ref_sig8) {
            ++skips_["type-unit-reference"];
            return 0;
        }
        Dwarf_Die target;
        if (!dwarf_formref_die(attr, &target)) {
            ++skips_["unresolved-reference"];
            return 0;
        }
        return dwarf_dieoffset(&target);
    }

    void remember(Dwarf_Attribute *attr)
    {
        tree_.attrs.push_back(*attr);
        current_->attr = static_cast<uint32_t>(tree_.attrs.size());
    }

    void flag(Dwarf_Attribute *attr, uint32_t bit)
    {
        bool set = false;
        if (dwarf_formflag(attr, &set) == 0 && set)
            current_->has |= bit;
    }

    void const_value(Dwarf_Attribute *attr)
    {
        Die &d = *current_;
        d.has |= Die::const_value;
        if (d.tag == tag_llvm_annotation || d.tag == tag_gnu_annotation) {
            d.text = dwarf_formstring(attr);
            return;
        }
        if (d.tag != DW_TAG_enumerator)
            return;
        if (attr->form == DW_FORM_sdata || attr->form == DW_FORM_implicit_const) {
            Dwarf_Sword value;
            if (dwarf_formsdata(attr, &value) == 0) {
                d.value = static_cast<uint64_t>(value);
                if (value < 0)
                    d.has |= Die::const_negative;
            }
            return;
        }
        Dwarf_Word value;
        if (dwarf_formudata(attr, &value) == 0)
            d.value = value;
        else
            ++skips_["enumerator-value-not-constant"];
    }

    void attribute(Dwarf_Attribute *attr)
    {
        Die &d = *current_;
        switch (attr->code) {
        case DW_AT_name:
            d.name = dwarf_formstring(attr);
            failed_ |= !d.name;
            break;
        case DW_AT_type:
            d.type = reference(attr);
            d.has |= Die::typed;
            break;
        case DW_AT_abstract_origin:
            d.origin = reference(attr);
            break;
        case DW_AT_specification:
            d.specification = reference(attr);
            break;
        case at_gnu_annotation:
            d.annotation = reference(attr);
            break;
        case DW_AT_byte_size:
            d.byte_size = unsigned_value(attr);
            break;
        case DW_AT_bit_size:
            d.bit_size = unsigned_value(attr);
            break;
        case DW_AT_bit_offset: {
            if (d.is(Die::data_bit_offset))
                break;
            // gcc writes a negative offset for a field that crosses its storage unit.
            Dwarf_Sword value;
            if (dwarf_formsdata(attr, &value) == 0)
                d.bit_offset = static_cast<uint64_t>(value);
            d.has |= Die::msb_offset;
            break;
        }
        case DW_AT_data_bit_offset:
            d.bit_offset = unsigned_value(attr);
            d.has |= Die::data_bit_offset;
            break;
        case DW_AT_data_member_location:
            if (d.tag == DW_TAG_member) {
                d.member_location = member_offset(attr, skips_);
                d.has |= Die::located;
            }
            break;
        case DW_AT_encoding:
            d.encoding = static_cast<uint8_t>(unsigned_value(attr));
            break;
        case DW_AT_const_value:
            const_value(attr);
            break;
        case DW_AT_upper_bound:
        case DW_AT_count:
            // Only constants count; a bound that is an expression or a reference is a variable
            // length. DW_AT_upper_bound, if it is there, decides.
            if (d.tag == DW_TAG_subrange_type &&
                (attr->code == DW_AT_upper_bound || !d.is(Die::const_value))) {
                Dwarf_Word bound;
                bool known = dwarf_formudata(attr, &bound) == 0;
                bool upper = attr->code == DW_AT_upper_bound;
                d.value = known ? bound + upper : 0;
                if (upper)
                    d.has |= Die::const_value;
            }
            break;
        case DW_AT_declaration:
            flag(attr, Die::declaration);
            break;
        case DW_AT_external:
            d.has |= Die::external;
            break;
        case DW_AT_artificial:
            flag(attr, Die::artificial);
            break;
        case DW_AT_inline:
            if (unsigned_value(attr) != DW_INL_not_inlined)
                d.has |= Die::inlined;
            break;
        case DW_AT_calling_convention:
            if (unsigned_value(attr) == DW_CC_nocall)
                d.has |= Die::nocall;
            break;
        case DW_AT_low_pc:
            if (d.tag == DW_TAG_subprogram) {
                d.has |= Die::low_pc;
                remember(attr);
            }
            break;
        case DW_AT_ranges:
            d.has |= Die::ranges;
            break;
        case DW_AT_location:
            d.has |= Die::location;
            remember(attr);
            break;
        default:
            break;
        }
    }

    const DwarfFile &file_;
    DieTree &tree_;
    Skips &skips_;
    Die *current_ = nullptr;
    bool failed_ = false;
    uint64_t last_offset_ = 0;
};

/// True if a DIE of the unit may refer to another unit.
bool uses_ref_addr(Dwarf_Die &unit)
{
    Dwarf_Off offset = 0;
    size_t length = 0;
    for (;;) {
        Dwarf_Abbrev *abbrev = dwarf_getabbrev(&unit, offset, &length);
        if (!abbrev || abbrev == DWARF_END_ABBREV)
            return false;
        size_t count;
        if (dwarf_getattrcnt(abbrev, &count) != 0)
            return false;
        for (size_t i = 0; i < count; ++i) {
            unsigned name, form;
            Dwarf_Off ignored;
            if (dwarf_getabbrevattr(abbrev, i, &name, &form, &ignored) == 0 &&
                form == DW_FORM_ref_addr)
                return true;
        }
        offset += length;
    }
}

} // namespace

DieIndex DieTree::find(uint64_t offset) const
{
    if (offset == 0)
        return 0;
    auto it = std::lower_bound(dies.begin() + 1, dies.end(), offset,
                               [](const Die &d, uint64_t at) { return d.offset < at; });
    return it != dies.end() && it->offset == offset ? static_cast<DieIndex>(it - dies.begin()) : 0;
}

Result<std::vector<Unit>> list_units(const DwarfFile &file, Skips &skips)
{
    std::vector<Unit> units;
    Dwarf_CU *cu = nullptr;
    for (;;) {
        Dwarf_CU *next = nullptr;
        Dwarf_Die die{}, sub{};
        Dwarf_Half version;
        uint8_t unit_type;
        uint64_t offset = units.empty() ? 0 : units.back().die_offset;
        int rc = dwarf_get_units(file.dwarf(), cu, &next, &version, &unit_type, &die, &sub);
        if (rc > 0)
            return units;
        if (rc < 0)
            return file.dwarf_error(offset, "cannot read the unit behind");
        cu = next;
        int tag = dwarf_tag(&die);
        if (unit_type == DW_UT_skeleton || (unit_type == DW_UT_compile && sub.cu)) {
            ++skips["split-dwarf-unit"];
            continue;
        }
        if (unit_type == DW_UT_partial || tag == DW_TAG_partial_unit) {
            ++skips["partial-unit"];
            continue;
        }
        if (unit_type == DW_UT_type || unit_type == DW_UT_split_type || tag == DW_TAG_type_unit) {
            ++skips["type-unit"];
            continue;
        }
        if (tag != DW_TAG_compile_unit) {
            ++skips["unknown-unit"];
            continue;
        }
        Dwarf_Attribute attr;
        Dwarf_Word language = 0;
        if (dwarf_attr(&die, DW_AT_language, &attr))
            dwarf_formudata(&attr, &language);
        units.push_back(
            {dwarf_dieoffset(&die), static_cast<uint16_t>(language), uses_ref_addr(die)});
    }
}

Result<DieTree> read_units(const DwarfFile &file, std::span<const Unit> units, Skips &skips)
{
    DieTree tree;
    tree.dies.emplace_back();
    Reader reader(file, tree, skips);
    for (const Unit &unit : units)
        RETURN_IF_ERROR(reader.unit(unit));
    return tree;
}

} // namespace btflink::emit
