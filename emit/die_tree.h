// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The debugging information entries (DIEs) of one unit as a flat array, attributes decoded once.
// Only what BTF can be made of is kept: types with their parts, functions with their parameters,
// variables outside functions, annotations. Blocks and inlined calls are walked through (types may
// be nested in them) but not kept.
#pragma once

#include "emit/dwarf_file.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace btflink::emit
{

/// Things left out, by reason; reasons are stable words.
using Skips = std::map<std::string, uint64_t>;

/// Index of a DIE in DieTree::dies. 0 is a placeholder that stands for "none".
using DieIndex = uint32_t;

/// Tags and attributes of GCC 16's annotations (btf_decl_tag, btf_type_tag), not in <dwarf.h> yet.
constexpr unsigned tag_gnu_annotation = 0x6001;
constexpr unsigned at_gnu_annotation = 0x2139;
constexpr unsigned tag_llvm_annotation = 0x6000;

struct Die {
    /// Bits of `has`.
    enum Has : uint32_t {
        declaration = 1u << 0,
        external = 1u << 1, // the attribute is present, whatever its value
        artificial = 1u << 2,
        inlined = 1u << 3, // DW_AT_inline other than "not inlined"
        low_pc = 1u << 4,
        ranges = 1u << 5,
        location = 1u << 6,
        const_value = 1u << 7,
        const_negative = 1u << 8, // const_value is a signed form and below zero
        data_bit_offset = 1u << 9,
        located = 1u << 10,    // DW_AT_data_member_location
        msb_offset = 1u << 11, // DW_AT_bit_offset: counts from the most significant bit
        typed = 1u << 12,      // DW_AT_type
        nocall = 1u << 13,     // DW_AT_calling_convention is DW_CC_nocall
        top_level = 1u << 14,  // child of the unit itself
    };

    uint16_t tag = 0;
    uint8_t encoding = 0; // DW_ATE_*
    uint32_t has = 0;
    DieIndex parent = 0; // nearest kept ancestor
    DieIndex end = 0;    // one past the last kept DIE below this one
    uint64_t offset = 0; // in .debug_info
    const char *name = nullptr;
    uint64_t type = 0, origin = 0, specification = 0, annotation = 0; // .debug_info offsets or 0
    uint64_t byte_size = 0, bit_size = 0;
    uint64_t bit_offset = 0;      // DW_AT_bit_offset or DW_AT_data_bit_offset, see `has`
    uint64_t member_location = 0; // bytes
    uint64_t value = 0;           // enumerators, annotations: const_value; subrange: element count
    const char *text = nullptr;   // annotations: const_value as a string
    uint32_t attr = 0;            // index into DieTree::attrs: DW_AT_location or DW_AT_low_pc + 1

    bool is(uint32_t bits) const { return has & bits; }
};

struct DieTree {
    std::vector<Die> dies;              // [0] is the placeholder; in order of offset
    std::vector<DieIndex> completion;   // all kept DIEs in the order in which they end
    std::vector<Dwarf_Attribute> attrs; // that need more context than their value
    const char *source = nullptr;       // DW_AT_name of the (first) unit
    uint16_t language = 0;
    bool clang = false;
    uint8_t address_size = 8;

    /// The kept DIE at `offset` of .debug_info, or 0.
    DieIndex find(uint64_t offset) const;
    const Die &at(DieIndex i) const { return dies[i]; }
};

/// Start of a unit: the offset of its DIE and what its header says.
struct Unit {
    uint64_t die_offset;
    uint16_t language;
    bool reads_foreign_units; // an abbreviation uses DW_FORM_ref_addr
};

/// All compile units of the file in order; others are counted in `skips`.
Result<std::vector<Unit>> list_units(const DwarfFile &file, Skips &skips);

/// Read one unit, or several as if they were one (link-time optimisation: they refer to each
/// other).
Result<DieTree> read_units(const DwarfFile &file, std::span<const Unit> units, Skips &skips);

} // namespace btflink::emit
