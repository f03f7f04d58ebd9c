// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "tests/oracle/libdw_reader.h"

#include "emit/dwarf/location.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>
#include <span>

namespace btflink::oracle
{

namespace
{

/// Entries may nest no deeper; compilers stay below 100. Keeps our recursion bounded.
constexpr unsigned max_depth = 2000;

using emit::Keep;
using emit::keep_tag;

uint64_t unsigned_value(Dwarf_Attribute *attr)
{
    Dwarf_Word value;
    return dwarf_formudata(attr, &value) == 0 ? value : 0;
}

/// DWARF 2 to 4 allow an expression for the offset of a member: a lone DW_OP_plus_uconst (or
/// constant) counts, anything else is not a constant layout.
uint64_t member_offset(Dwarf_Attribute *attr, emit::Skips &skips)
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

bool is_reg(uint8_t atom)
{
    return atom >= DW_OP_reg0 && atom <= DW_OP_reg31;
}
bool is_breg(uint8_t atom)
{
    return atom >= DW_OP_breg0 && atom <= DW_OP_breg31;
}

bool is_constant(uint8_t atom)
{
    return (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) || atom == DW_OP_constu ||
           atom == DW_OP_consts;
}

class ParamDecoder
{
public:
    explicit ParamDecoder(Dwarf_Attribute &attr) : attr_(attr) {}

    emit::ParamLocation run()
    {
        Dwarf_Addr base, start, end;
        Dwarf_Op *ops;
        size_t count;
        ptrdiff_t offset = 0;
        for (bool first = true;
             (offset = dwarf_getlocations(&attr_, offset, &base, &start, &end, &ops, &count)) > 0;
             first = false) {
            if (count == 0)
                continue;
            bool computed = ops[count - 1].atom == DW_OP_stack_value;
            out_.is_constant |= first && is_constant(ops[0].atom);
            if (count == 1 || (count == 2 && computed))
                single(ops[0], computed, first);
            else if (!is_constant(ops[0].atom))
                several({ops, count}, first);
        }
        return out_;
    }

private:
    static void found(int8_t &where, int reg)
    {
        if (where < 0)
            where = static_cast<int8_t>(reg);
    }

    void found(int reg)
    {
        found(out_.scalar, reg);
        found(out_.aggregate, reg);
    }

    void single(const Dwarf_Op &op, bool computed, bool first)
    {
        out_.on_stack |= first && op.atom == DW_OP_fbreg;
        if (is_reg(op.atom) && first) {
            found(op.atom - DW_OP_reg0);
        } else if (is_breg(op.atom) && first && computed) {
            found(op.atom - DW_OP_breg0);
        } else if (op.atom == DW_OP_entry_value || op.atom == DW_OP_GNU_entry_value) {
            Dwarf_Attribute entry;
            Dwarf_Op *entry_ops;
            size_t entry_count;
            if (dwarf_getlocation_attr(&attr_, &op, &entry) == 0 &&
                dwarf_getlocation(&entry, &entry_ops, &entry_count) == 0 && entry_count == 1 &&
                is_reg(entry_ops[0].atom))
                found(entry_ops[0].atom - DW_OP_reg0);
        }
    }

    void several(std::span<const Dwarf_Op> ops, bool first)
    {
        if (first && is_reg(ops[0].atom))
            found(out_.scalar, ops[0].atom - DW_OP_reg0);
        if (first && is_breg(ops[0].atom) &&
            std::ranges::find(ops, DW_OP_stack_value, &Dwarf_Op::atom) != ops.end())
            found(out_.scalar, ops[0].atom - DW_OP_breg0);
        Dwarf_Word offset = 0;
        for (const Dwarf_Op &op : ops) {
            if (is_reg(op.atom))
                found(out_.aggregate, op.atom - DW_OP_reg0);
            if (op.atom != DW_OP_piece)
                continue;
            if (&op != ops.data() && offset < 64)
                out_.pieces |= uint64_t{1} << offset;
            if (__builtin_add_overflow(offset, op.number, &offset))
                offset = UINT64_MAX;
        }
    }

    Dwarf_Attribute &attr_;
    emit::ParamLocation out_;
};

/// The address of a variable whose location is DW_OP_addr or DW_OP_addrx, perhaps plus a constant.
std::optional<AddressRef> fixed_address(const LibdwFile &file, Dwarf_Attribute &attr)
{
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Block block;
    if (dwarf_getlocation(&attr, &ops, &count) != 0 || count == 0 || count > 2 ||
        dwarf_formblock(&attr, &block) != 0)
        return std::nullopt;
    if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
        return std::nullopt;
    std::optional<AddressRef> address;
    if (ops[0].atom == DW_OP_addr)
        address = file.address_in_info(block.data + 1);
    else if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index)
        address = file.address_in_pool(ops[0].number, attr);
    if (address && count == 2) {
        address->addend += static_cast<int64_t>(ops[1].number);
        address->offset += ops[1].number;
    }
    return address;
}

class Reader
{
public:
    Reader(const LibdwFile &file, emit::DieTree &tree, emit::Skips &skips)
        : file_(file), tree_(tree), skips_(skips)
    {
    }

    Result<void> unit(Dwarf_Die &die)
    {
        if (tree_.dies.size() == 1) {
            Dwarf_Attribute attr;
            tree_.source = dwarf_diename(&die);
            const char *producer =
                dwarf_attr(&die, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : nullptr;
            tree_.clang = producer && std::strstr(producer, "clang");
            tree_.rust = dwarf_srclang(&die) == DW_LANG_Rust;
            tree_.address_size = file_.arch().address_size;
        }
        return children(die, 0, DW_TAG_compile_unit, true, 0);
    }

private:
    Result<void> children(Dwarf_Die &die, emit::DieIndex parent, unsigned parent_tag,
                          bool top_level, unsigned depth)
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

    Result<void> one(Dwarf_Die &die, emit::DieIndex parent, unsigned parent_tag, bool top_level,
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
        auto index = static_cast<emit::DieIndex>(tree_.dies.size());
        tree_.dies.emplace_back();
        emit::Die d;
        d.tag = static_cast<uint16_t>(tag);
        d.parent = parent;
        d.offset = static_cast<uint32_t>(offset);
        if (top_level)
            d.has |= emit::Die::top_level;
        current_ = &d;
        failed_ = false;
        parent_tag_ = parent_tag;
        size_t addresses = tree_.addresses.size();
        if (dwarf_getattrs(&die, &Reader::attribute, this, 0) == -1 || failed_)
            return file_.dwarf_error(offset, "cannot read the attributes of this entry");
        if (tag == DW_TAG_variable && !top_level && !d.is(emit::Die::declaration)) {
            tree_.dies.pop_back();
            tree_.addresses.resize(addresses);
            return {};
        }
        tree_.dies[index] = d;
        RETURN_IF_ERROR(children(die, index, tag, false, depth + 1));
        tree_.complete(index);
        return {};
    }

    static int attribute(Dwarf_Attribute *attr, void *self)
    {
        static_cast<Reader *>(self)->attribute(attr);
        return DWARF_CB_OK;
    }

    uint32_t reference(Dwarf_Attribute *attr)
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
        return static_cast<uint32_t>(dwarf_dieoffset(&target));
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
        emit::Die &d = *current_;
        d.has |= emit::Die::location;
        if (d.tag == DW_TAG_formal_parameter && parent_tag_ == DW_TAG_subprogram) {
            emit::ParamLocation entry = ParamDecoder(*attr).run();
            d.scalar_register = entry.scalar;
            d.aggregate_register = entry.aggregate;
            d.pieces = entry.pieces;
            d.has |= (entry.is_constant ? emit::Die::is_constant : 0u) |
                     (entry.on_stack ? emit::Die::on_stack : 0u);
        } else if (d.tag == DW_TAG_variable && d.is(emit::Die::top_level)) {
            remember(fixed_address(file_, *attr));
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
        emit::Die &d = *current_;
        d.has |= emit::Die::const_value;
        if (d.tag == emit::tag_llvm_annotation || d.tag == emit::tag_gnu_annotation) {
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
                    d.has |= emit::Die::const_negative;
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
        emit::Die &d = *current_;
        switch (attr->code) {
        case DW_AT_name:
            d.name = dwarf_formstring(attr);
            failed_ |= !d.name;
            break;
        case DW_AT_type:
            d.type = reference(attr);
            d.has |= emit::Die::typed;
            break;
        case DW_AT_abstract_origin:
            d.origin = reference(attr);
            break;
        case DW_AT_specification:
            d.specification = reference(attr);
            break;
        case emit::at_gnu_annotation:
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
            d.has |= emit::Die::msb_offset;
            break;
        }
        case DW_AT_data_bit_offset:
            d.value = unsigned_value(attr);
            d.has |= emit::Die::data_bit_offset;
            break;
        case DW_AT_data_member_location:
            if (d.tag == DW_TAG_member) {
                if (uint64_t offset = member_offset(attr, skips_);
                    !d.is(emit::Die::data_bit_offset))
                    d.value = offset;
                d.has |= emit::Die::located;
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
                (attr->code == DW_AT_upper_bound || !d.is(emit::Die::const_value))) {
                Dwarf_Word bound;
                bool known = dwarf_formudata(attr, &bound) == 0;
                bool upper = attr->code == DW_AT_upper_bound;
                d.value = known ? bound + upper : 0;
                if (upper)
                    d.has |= emit::Die::const_value;
            }
            break;
        case DW_AT_declaration:
            flag(attr, emit::Die::declaration);
            break;
        case DW_AT_external:
            d.has |= emit::Die::external;
            break;
        case DW_AT_artificial:
            flag(attr, emit::Die::artificial);
            break;
        case DW_AT_inline:
            if (unsigned_value(attr) != DW_INL_not_inlined)
                d.has |= emit::Die::inlined;
            break;
        case DW_AT_calling_convention:
            if (unsigned_value(attr) == DW_CC_nocall)
                d.has |= emit::Die::nocall;
            break;
        case DW_AT_low_pc:
            if (d.tag == DW_TAG_subprogram) {
                d.has |= emit::Die::low_pc;
                remember(file_.address_of(*attr));
            }
            break;
        case DW_AT_ranges:
            if (d.tag == DW_TAG_subprogram)
                d.has |= emit::Die::ranges;
            break;
        case DW_AT_location:
            location(attr);
            break;
        default:
            break;
        }
    }

    const LibdwFile &file_;
    emit::DieTree &tree_;
    emit::Skips &skips_;
    emit::Die *current_ = nullptr;
    bool failed_ = false;
    unsigned parent_tag_ = 0;
    uint64_t last_offset_ = 0;
};

} // namespace

Result<std::vector<emit::DieTree>> read_all_units(const LibdwFile &file, emit::Skips &skips)
{
    std::vector<emit::DieTree> trees;
    Dwarf_CU *cu = nullptr;
    for (;;) {
        Dwarf_CU *next = nullptr;
        Dwarf_Die die{}, sub{};
        Dwarf_Half version;
        uint8_t type;
        int rc = dwarf_get_units(file.dwarf(), cu, &next, &version, &type, &die, &sub);
        if (rc > 0)
            return trees;
        if (rc < 0)
            return file.dwarf_error(0, "cannot read a unit");
        cu = next;
        if (type != DW_UT_compile || sub.cu || dwarf_tag(&die) != DW_TAG_compile_unit)
            continue;
        emit::DieTree &tree = trees.emplace_back();
        tree.dies.emplace_back();
        RETURN_IF_ERROR(Reader(file, tree, skips).unit(die));
    }
}

} // namespace btflink::oracle
