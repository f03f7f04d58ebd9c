// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The meaning of each attribute for BTF, shared by the readers of DWARF. Each reader decodes values
// in its own way.
#pragma once

#include "emit/tree/die_tree.h"

#include <algorithm>
#include <dwarf.h>
#include <optional>
#include <span>

namespace btflink::emit
{

// param_rules.cc: the register that holds a parameter when its function is entered, according to
// the parameter's location.

/// An operation of a location expression. Some operations have a block of bytes as operand, for
/// example DW_OP_entry_value, whose block is an expression.
struct LocationOp {
    uint8_t atom;      // DW_OP_*
    uint64_t number;   // the first operand, if it is needed; the size of a block
    uint64_t position; // offset in the section: of the operand, or of a block's bytes; libdw: 0
};

/// DW_OP_reg0 to DW_OP_reg31.
bool is_register_op(uint8_t atom);
/// DW_OP_entry_value or DW_OP_GNU_entry_value.
bool is_entry_value_op(uint8_t atom);

/// Computes a ParamLocation from the entries of a location list. A lone expression counts as a list
/// of one entry.
class ParamRules
{
public:
    /// Adds the next entry. `entry_register`: if the entry begins with
    /// DW_OP_entry_value(DW_OP_reg<n>), n; otherwise -1.
    void add(std::span<const LocationOp> ops, int entry_register);
    const ParamLocation &result() const { return out_; }

private:
    void add_single(const LocationOp &op, bool is_computed, int entry_register);
    void add_several(std::span<const LocationOp> ops);
    void set_register(int reg);

    ParamLocation out_;
    bool first_ = true;
};

/// The value of an attribute; 0 and not `known` if the value is not a constant. A std::optional
/// would take 4 % of btf-pahole's time, because gcc would build each one on the stack first.
struct Constant {
    uint64_t value = 0;
    bool known = false;
};

/// The value of an enumerator. Whether it is negative must be known, because BTF distinguishes
/// signed and unsigned enums.
struct EnumeratorValue {
    uint64_t value;
    bool is_signed; // by the form of the attribute
};

/// Writes the attributes of one entry into `die`. `Value` reads the value of one attribute. Exactly
/// one of these functions of `Value` is called for each attribute:
///     const char *string()                      null: not a string
///     uint32_t reference()                      offset of an entry; 0: none
///     Constant constant()
///     std::optional<int64_t> signed_constant()
///     std::optional<EnumeratorValue> enumerator()
///     Constant member_offset()                  in bytes
///     bool flag()
///     std::optional<AddressRef> address()
///     std::optional<AddressRef> variable_address()   of a DW_AT_location
///     std::optional<AddressRef> range_start()        of a DW_AT_ranges with one range;
///                                                   only read in split DWARF 5
///     ParamLocation param_location()
///     void skip()
template <typename Value>
class DieAttributes
{
public:
    DieAttributes(Die &die, uint32_t parent_tag, DieTree &tree, Skips &skips)
        : die_(die), parent_tag_(parent_tag), tree_(tree), skips_(skips)
    {
    }

    /// Stores one attribute in the entry. Inlined, because it runs for each attribute of each
    /// entry.
    [[gnu::always_inline]] void set(uint32_t attribute, Value value)
    {
        switch (attribute) {
        case DW_AT_name:
            die_.name = value.string();
            break;
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
            if (die_.tag == DW_TAG_subprogram)
                die_.text = value.string();
            else
                value.skip();
            break;
        case DW_AT_type:
            die_.type = value.reference();
            die_.has |= Die::typed;
            break;
        case DW_AT_abstract_origin:
            die_.origin = value.reference();
            break;
        case DW_AT_specification:
            die_.specification = value.reference();
            break;
        case at_gnu_annotation:
            die_.annotation = value.reference();
            break;
        case DW_AT_byte_size:
            die_.byte_size = value.constant().value;
            break;
        case DW_AT_bit_size:
            die_.bit_size =
                static_cast<uint16_t>(std::min<uint64_t>(value.constant().value, UINT16_MAX));
            break;
        case DW_AT_bit_offset: // gcc: negative for a field that crosses its storage unit
            die_.bit_offset = static_cast<int32_t>(value.signed_constant().value_or(0));
            die_.has |= Die::msb_offset;
            break;
        case DW_AT_data_bit_offset:
            data_bit_offset(value);
            break;
        case DW_AT_data_member_location:
            member_location(value);
            break;
        case DW_AT_encoding:
            die_.encoding = static_cast<uint8_t>(value.constant().value);
            break;
        case DW_AT_const_value:
            const_value(value);
            break;
        case DW_AT_upper_bound:
        case DW_AT_count:
            upper_bound(attribute == DW_AT_upper_bound, value);
            break;
        case DW_AT_lower_bound:
            lower_bound(value);
            break;
        case DW_AT_declaration:
            set_if(value.flag(), Die::declaration);
            break;
        case DW_AT_external:
            value.skip();
            die_.has |= Die::external;
            break;
        case DW_AT_artificial:
            set_if(value.flag(), Die::artificial);
            break;
        case DW_AT_inline:
            set_if(value.constant().value != DW_INL_not_inlined, Die::inlined);
            break;
        case DW_AT_calling_convention:
            set_if(value.constant().value == DW_CC_nocall, Die::nocall);
            break;
        case DW_AT_low_pc:
            low_pc(value);
            break;
        case DW_AT_ranges:
            ranges(value);
            break;
        case DW_AT_location:
            location(value);
            break;
        default:
            value.skip();
            break;
        }
    }

private:
    void set_if(bool condition, uint32_t bit) { die_.has |= condition ? bit : 0; }

    void set_address(const std::optional<AddressRef> &address)
    {
        if (!address)
            return;
        tree_.addresses.push_back(*address);
        die_.address = static_cast<uint32_t>(tree_.addresses.size());
    }

    void data_bit_offset(Value &value)
    {
        if (die_.tag != DW_TAG_member) // Die::value shares memory with the text of other entries
            return value.skip();
        die_.value = value.constant().value;
        die_.has |= Die::data_bit_offset;
    }

    void member_location(Value &value)
    {
        if (die_.tag != DW_TAG_member)
            return value.skip();
        const Constant offset = value.member_offset();
        if (!offset.known)
            ++skips_[Skip::member_location_not_constant];
        if (!die_.is(Die::data_bit_offset))
            die_.value = offset.value;
        die_.has |= Die::located;
    }

    void const_value(Value &value)
    {
        die_.has |= Die::const_value;
        if (die_.tag == tag_llvm_annotation || die_.tag == tag_gnu_annotation) {
            die_.text = value.string();
        } else if (die_.tag != DW_TAG_enumerator) {
            value.skip();
        } else if (const std::optional<EnumeratorValue> constant = value.enumerator()) {
            die_.value = constant->value;
            set_if(constant->is_signed && static_cast<int64_t>(constant->value) < 0,
                   Die::const_negative);
        } else {
            ++skips_[Skip::enumerator_value_not_constant];
        }
    }

    /// A bound may be an expression or a reference, as in an array of variable length.
    /// DW_AT_upper_bound takes precedence over DW_AT_count.
    void upper_bound(bool is_upper, Value &value)
    {
        if (die_.tag != DW_TAG_subrange_type || (!is_upper && die_.is(Die::upper_bound)))
            return value.skip();
        const Constant constant = value.constant();
        die_.value = constant.known ? constant.value + is_upper : 0;
        set_if(is_upper, Die::upper_bound);
        set_if(is_upper && !constant.known, Die::unknown_bound);
    }

    void lower_bound(Value &value)
    {
        if (die_.tag != DW_TAG_subrange_type)
            return value.skip();
        const Constant constant = value.constant();
        die_.bit_offset = static_cast<int32_t>(
            std::clamp<int64_t>(static_cast<int64_t>(constant.value), INT32_MIN, INT32_MAX));
        const bool fits = static_cast<uint64_t>(int64_t{die_.bit_offset}) == constant.value;
        set_if(constant.known && fits, Die::lower_bound);
        set_if(!constant.known || !fits, Die::unknown_bound);
    }

    void low_pc(Value &value)
    {
        if (die_.tag != DW_TAG_subprogram)
            return value.skip();
        die_.has |= Die::low_pc;
        set_address(value.address());
    }

    /// In split DWARF 5 clang writes a range list even for a function in one piece, to save an
    /// address. The start of the only range counts as DW_AT_low_pc.
    void ranges(Value &value)
    {
        if (die_.tag != DW_TAG_subprogram)
            return value.skip();
        die_.has |= Die::ranges;
        if (const std::optional<AddressRef> start = value.range_start();
            start && !die_.is(Die::low_pc)) {
            die_.has |= Die::low_pc;
            set_address(start);
        }
    }

    void location(Value &value)
    {
        die_.has |= Die::location;
        if (die_.tag == DW_TAG_formal_parameter &&
            (parent_tag_ == DW_TAG_subprogram || parent_tag_ == tag_gnu_parameter_pack)) {
            const ParamLocation entry = value.param_location();
            die_.scalar_register = entry.scalar;
            die_.aggregate_register = entry.aggregate;
            die_.pieces = entry.pieces;
            set_if(entry.is_constant, Die::is_constant);
            set_if(entry.on_stack, Die::on_stack);
        } else if (die_.tag == DW_TAG_variable && die_.is(Die::file_level)) {
            set_address(value.variable_address());
        } else {
            value.skip();
        }
    }

    Die &die_;
    const uint32_t parent_tag_;
    DieTree &tree_;
    Skips &skips_;
};

} // namespace btflink::emit
