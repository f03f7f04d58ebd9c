// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds parameters that are not passed, or not where the calling convention puts them.
//
// Problem. Locations show where each parameter is, but not where it should be: this depends on all
// parameters before it. A compiler that changes a signature may drop parameters, or pass only one
// member of a struct. DWARF does not say which ones.
//
// Method. Walk over the parameters and count registers, by pahole's rules. A parameter of two
// words takes two, except on s390. If only one piece of a struct has a location, only the member at
// the offset of this piece is passed, unless the next parameter is in the register that follows
// those of the whole struct.
//
// Cost. One walk; and for each struct of which only one piece has a location, one search through
// its members per offset of the piece. Parameters of one struct share the result.
#include "emit/unit/unit_passes.h"

#include <bit>
#include <dwarf.h>

namespace btflink::emit
{

/// The number of registers that `p` takes.
uint32_t ParamRegisters::register_count(const Param &p) const
{
    uint64_t word = arch_.address_size;
    if (!arch_.aggregates_in_two_regs || p.size <= word)
        return 1;
    return static_cast<uint32_t>((p.size + word - 1) / word);
}

/// The ABI's register `index`, from 0 on; -1: none, or any register is accepted.
int ParamRegisters::expected(uint32_t index) const
{
    return index < arch_.param_regs.size() ? arch_.param_regs[index] : -1;
}

bool ParamRegisters::is_at(const Param &p, uint32_t index) const
{
    return p.reg >= 0 && index < arch_.param_reg_count && p.reg == expected(index);
}

void ParamRegisters::check_kept_signature(std::span<Param> params) const
{
    if (arch_.param_regs.empty())
        return;
    uint32_t next = 0, count = arch_.param_reg_count;
    for (Param &p : params) {
        if (p.in_memory)
            continue;
        if (next >= count)
            return;
        const uint32_t end = next + register_count(p);
        bool as_expected = false;
        for (uint32_t i = next; i < end; ++i)
            as_expected |= is_at(p, i);
        if (p.reg >= 0 && !as_expected)
            p.unexpected = true;
        next = end;
    }
}

void ParamRegisters::check(std::span<Param> params) const
{
    uint32_t next = 0, count = arch_.param_reg_count;
    for (Param &p : params) {
        if (p.has_location) {
            if (next >= count)
                continue; // on the stack
            if (p.reg < 0)
                p.optimized = true;
            else if (expected(next) >= 0 && expected(next) != p.reg)
                p.unexpected = true;
        }
        next += p.in_memory ? 1 : register_count(p); // as pahole: 1 for a parameter in memory
    }
}

void ParamRegisters::find_true_signature(std::span<Param> params) const
{
    const uint64_t first_word = (uint64_t{1} << arch_.address_size) - 1; // bits of Param::pieces
    uint32_t next = 0;
    for (size_t i = 0; i < params.size(); ++i) {
        Param &p = params[i];
        const bool in_registers = next < arch_.param_reg_count;
        const uint32_t whole = register_count(p);
        // If the next parameter is in the register that follows all registers of `p`, then `p`
        // takes all of them.
        const bool takes_all =
            in_registers && i + 1 < params.size() && is_at(params[i + 1], next + whole);
        if (std::has_single_bit(p.pieces))
            p.member = member_at(p, static_cast<uint64_t>(std::countr_zero(p.pieces)));
        const bool is_elsewhere = p.reg < 0 || (expected(next) >= 0 && expected(next) != p.reg);
        const bool has_both_words = (p.pieces & first_word) && (p.pieces & ~first_word);
        uint32_t taken = p.in_memory ? 1 : whole; // registers
        if (!p.has_location) {
            p.optimized = !takes_all;
            taken = takes_all ? whole : 0;
        } else if (p.is_constant) {
            p.optimized = true;
            taken = 0;
        } else if (!in_registers) { // on the stack
            taken = 0;
        } else if (p.on_stack) {
            p.unexpected = !p.in_memory;
            taken = p.in_memory ? 0 : whole;
        } else if (is_elsewhere) {
            p.unexpected = true;
        } else if (has_both_words) {
            taken = whole;
        } else if (p.pieces && takes_all) {
            p.member = 0;
            taken = whole;
        } else if (p.member) {
            p.is_member = true;
            taken = 1;
        }
        next += taken;
    }
}

/// The member that begins at byte `offset` of `p`'s struct; 0 if there is none, or if it lacks a
/// name or a type. Also 0 if `p` belongs to an out-of-line copy and so has its type only in its
/// origin. pahole does the same.
DieIndex ParamRegisters::member_at(const Param &p, uint64_t offset) const
{
    const DieIndex type = layout_.target_past(tree_.at(p.die), [](const Die &d) {
        return d.byte_size == 0 && d.tag != DW_TAG_ptr_to_member_type;
    });
    const Die &d = tree_.at(type);
    if (d.tag != DW_TAG_structure_type)
        return 0;
    auto [known, is_new] = members_.try_emplace((uint64_t{type} << 6) + offset);
    for (DieIndex c = type + 1; is_new && c < d.end; c = tree_.at(c).end) {
        const Die &m = tree_.at(c);
        if (m.tag != DW_TAG_member || !m.is(Die::data_bit_offset | Die::located) ||
            m.value != (m.is(Die::data_bit_offset) ? offset * 8 : offset))
            continue;
        known->second = m.name && m.is(Die::typed) ? c : 0;
        break;
    }
    return known->second;
}

} // namespace btflink::emit
