// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// One walk over the unit, by libdw's own functions for children, siblings and attributes.
#include "emit/dwarf/libdw/libdw_entries.h"

#include "emit/dwarf/libdw/libdw_location.h"

#include <algorithm>
#include <dwarf.h>

namespace btflink::emit
{

namespace
{

uint64_t unsigned_value(Dwarf_Attribute *attr)
{
    Dwarf_Word value;
    return dwarf_formudata(attr, &value) == 0 ? value : 0;
}

class Reader
{
public:
    Reader(const LibdwFile &file, EntryNumbers &numbers, LibdwUnit unit,
           const std::function<void(Dwarf_Die &)> &meets, DieTree &tree, Skips &skips)
        : file_(file), numbers_(numbers), unit_(unit), meets_(meets), tree_(tree), skips_(skips)
    {
    }

    Result<void> run() { return children(unit_.die, 0, DW_TAG_compile_unit, true, 0); }

private:
    Result<void> children(Dwarf_Die &die, DieIndex parent, unsigned parent_tag, bool top_level,
                          unsigned depth)
    {
        uint64_t offset = dwarf_dieoffset(&die);
        if (depth > max_depth)
            return fail(file_.elf().where().in(".debug_info").at(offset),
                        strf("entries nest deeper than %zu", max_depth));
        Dwarf_Die child;
        int found = dwarf_child(&die, &child);
        while (found == 0) {
            TRY(one(child, parent, parent_tag, top_level, depth));
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
            return fail(file_.elf().where().in(".debug_info").at(offset),
                        "entries are not in order");
        last_offset_ = offset;
        if (tag == DW_TAG_imported_unit)
            import(die);
        // A static member of C++ is a variable, as DWARF 5 has it.
        const bool is_static = tag == DW_TAG_member && (dwarf_hasattr(&die, DW_AT_external) ||
                                                        dwarf_hasattr(&die, DW_AT_declaration));
        if (is_static)
            tag = DW_TAG_variable;
        Keep keep = dwarf_hasattr(&die, DW_AT_signature) ? Keep::stand_in
                                                         : keep_tag(tag, parent_tag, top_level);
        switch (keep) {
        case Keep::no:
            return {};
        case Keep::stand_in:
            meet_type(die);
            [[fallthrough]];
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
        d.offset = numbers_.of(die);
        if (!d.offset)
            return fail(file_.elf().where().in(".debug_info"), "more than 4 GB, with other files");
        const bool file_level = top_level || parent_tag == DW_TAG_namespace;
        if (file_level)
            d.has |= Die::file_level;
        current_ = &d;
        failed_ = false;
        parent_tag_ = parent_tag;
        size_t addresses = tree_.addresses.size();
        if (dwarf_getattrs(&die, &Reader::attribute, this, 0) == -1 || failed_)
            return file_.dwarf_error(offset, "cannot read the attributes of this entry");
        if (tag == DW_TAG_variable && !file_level && !is_static && !d.is(Die::declaration)) {
            tree_.dies.pop_back();
            tree_.addresses.resize(addresses);
            return {};
        }
        tree_.annotations |= tag == tag_llvm_annotation || tag == tag_gnu_annotation;
        tree_.atomics |= tag == DW_TAG_atomic_type;
        tree_.dies[index] = d;
        TRY(children(die, index, tag, false, depth + 1));
        tree_.complete(index);
        return {};
    }

    static int attribute(Dwarf_Attribute *attr, void *self)
    {
        static_cast<Reader *>(self)->attribute(attr);
        return DWARF_CB_OK;
    }

    void import(Dwarf_Die &die)
    {
        Dwarf_Attribute attr;
        Dwarf_Die unit;
        if (dwarf_attr(&die, DW_AT_import, &attr) && dwarf_formref_die(&attr, &unit))
            meets_(unit);
        else
            ++skips_[Skip::unresolved_reference];
    }

    /// The type that `die` stands for belongs to this unit, even if nothing refers to it. (One that
    /// is missing is counted where it is referred to.)
    void meet_type(Dwarf_Die &die)
    {
        Dwarf_Attribute signature;
        Dwarf_Die type;
        if (dwarf_attr(&die, DW_AT_signature, &signature) && dwarf_formref_die(&signature, &type))
            meets_(type);
    }

    uint32_t reference(Dwarf_Attribute *attr)
    {
        Dwarf_Die target;
        Dwarf_Attribute signature;
        bool found = dwarf_formref_die(attr, &target);
        if (found && dwarf_attr(&target, DW_AT_signature, &signature)) {
            attr = &signature;
            found = dwarf_formref_die(attr, &target);
        }
        if (!found) {
            ++skips_[attr->form == DW_FORM_ref_sig8 ? Skip::type_unit_reference
                                                    : Skip::unresolved_reference];
            return 0;
        }
        if (target.cu != unit_.die.cu)
            meets_(target);
        return numbers_.of(target);
    }

    void remember(const std::optional<AddressRef> &address)
    {
        if (!address)
            return;
        tree_.addresses.push_back(*address);
        current_->address = static_cast<uint32_t>(tree_.addresses.size());
    }

    void location(Dwarf_Attribute *attr)
    {
        Die &d = *current_;
        d.has |= Die::location;
        if (d.tag == DW_TAG_formal_parameter && parent_tag_ == DW_TAG_subprogram) {
            ParamLocation entry = param_location(*attr);
            d.scalar_register = entry.scalar;
            d.aggregate_register = entry.aggregate;
            d.pieces = entry.pieces;
            d.has |=
                (entry.is_constant ? Die::is_constant : 0u) | (entry.on_stack ? Die::on_stack : 0u);
        } else if (d.tag == DW_TAG_variable && d.is(Die::file_level)) {
            remember(variable_address(file_, *attr, unit_.addr_base));
        }
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
            ++skips_[Skip::enumerator_value_not_constant];
    }

    void member_location(Dwarf_Attribute *attr)
    {
        auto offset = member_offset(*attr);
        if (!offset)
            ++skips_[Skip::member_location_not_constant];
        if (!current_->is(Die::data_bit_offset))
            current_->value = offset.value_or(0);
        current_->has |= Die::located;
    }

    void attribute(Dwarf_Attribute *attr)
    {
        Die &d = *current_;
        switch (attr->code) {
        case DW_AT_name:
            d.name = dwarf_formstring(attr);
            failed_ |= !d.name;
            break;
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
            if (d.tag == DW_TAG_subprogram)
                d.text = dwarf_formstring(attr);
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
            d.bit_size =
                static_cast<uint16_t>(std::min<uint64_t>(unsigned_value(attr), UINT16_MAX));
            break;
        case DW_AT_bit_offset: {
            Dwarf_Sword value;
            if (dwarf_formsdata(attr, &value) == 0)
                d.bit_offset = static_cast<int32_t>(value);
            d.has |= Die::msb_offset;
            break;
        }
        case DW_AT_data_bit_offset:
            if (d.tag == DW_TAG_member) { // others may have text in its place
                d.value = unsigned_value(attr);
                d.has |= Die::data_bit_offset;
            }
            break;
        case DW_AT_data_member_location:
            if (d.tag == DW_TAG_member)
                member_location(attr);
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
                remember(file_.address_of(*attr, unit_.addr_base));
            }
            break;
        case DW_AT_ranges:
            if (d.tag == DW_TAG_subprogram)
                d.has |= Die::ranges;
            break;
        case DW_AT_location:
            location(attr);
            break;
        default:
            break;
        }
    }

    const LibdwFile &file_;
    EntryNumbers &numbers_;
    LibdwUnit unit_;
    const std::function<void(Dwarf_Die &)> &meets_;
    DieTree &tree_;
    Skips &skips_;
    Die *current_ = nullptr;
    bool failed_ = false;
    unsigned parent_tag_ = 0;
    uint64_t last_offset_ = 0;
};

} // namespace

Result<void> read_entries(const LibdwFile &file, EntryNumbers &numbers, LibdwUnit unit,
                          const std::function<void(Dwarf_Die &)> &meets, DieTree &tree,
                          Skips &skips)
{
    return Reader(file, numbers, unit, meets, tree, skips).run();
}

} // namespace btflink::emit
