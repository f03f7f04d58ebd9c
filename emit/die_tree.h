// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The debugging information entries (DIEs) of one unit as a flat array, attributes decoded once.
// Only what BTF can be made of is kept: types with their parts, functions with their parameters,
// variables outside functions, annotations. Blocks and inlined calls are walked through (types may
// be nested in them) but not kept.
#pragma once

#include "emit/abbrev.h"
#include "emit/record_array.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace btflink::emit
{

/// Things left out, by reason; reasons are stable words.
using Skips = std::map<std::string, uint64_t>;

/// Index of a DIE in DieTree::dies. 0 is a placeholder that stands for "none".
using DieIndex = uint32_t;

/// Tags and attributes of GCC 16's annotations (btf_decl_tag, btf_type_tag), not in <dwarf.h> yet.
constexpr uint32_t tag_gnu_annotation = 0x6001;
constexpr uint32_t at_gnu_annotation = 0x2139;
constexpr uint32_t tag_llvm_annotation = 0x6000;

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
        // Parameters, see ParamLocation:
        is_constant = 1u << 15,
        on_stack = 1u << 16,
    };

    // References are offsets in .debug_info, 0: none. Sections of 4 GB are refused.
    uint32_t offset = 0;
    uint32_t type = 0, origin = 0, specification = 0, annotation = 0;
    uint32_t has = 0;
    DieIndex parent = 0; // nearest kept ancestor
    DieIndex end = 0;    // one past the last kept DIE below this one
    const char *name = nullptr;
    uint64_t byte_size = 0;
    union {
        // Members: bit offset if data_bit_offset is set, else byte offset. Enumerators: the
        // constant. Subranges: the element count.
        uint64_t value = 0;
        const char *text; // annotations: const_value as a string
        uint64_t pieces;  // parameters, see ParamLocation
    };
    int32_t bit_offset = 0; // DW_AT_bit_offset
    uint32_t address = 0;   // functions, variables: index + 1 into DieTree::addresses
    uint16_t bit_size = 0;  // saturated
    uint16_t tag = 0;
    uint8_t encoding = 0; // DW_ATE_*
    // Parameters: registers on entry, see location.h.
    int8_t scalar_register = -1, aggregate_register = -1;

    bool is(uint32_t bits) const { return has & bits; }
};

class DieTree
{
public:
    RecordArray<Die> dies; // [0] is the placeholder; in order of offset
    // The kept DIEs that stand for themselves (parts of types and functions do not), each kind in
    // the order in which they end.
    std::vector<DieIndex> types, functions, variables;
    std::vector<AddressRef> addresses;
    const char *source = nullptr; // DW_AT_name of the (first) unit
    bool clang = false;
    bool rust = false;        // members need not be in the order of their offsets
    bool annotations = false; // there are entries with tags for BTF
    bool atomics = false;     // there are entries for _Atomic
    uint8_t address_size = 8;

    const Die &at(DieIndex i) const { return dies[i]; }
    /// The DIE at `i` ends where `dies` ends now.
    void complete(DieIndex i);
    /// The kept DIE at `offset` of .debug_info, or 0. Call index() once before.
    DieIndex find(uint32_t offset) const
    {
        const uint64_t bucket = (uint64_t{offset} - first_offset_) / 16;
        if (offset < first_offset_ || bucket >= buckets_.size())
            return 0;
        DieIndex i = buckets_[bucket];
        while (offsets_[i] < offset)
            ++i;
        return offsets_[i] == offset && i < dies.size() ? i : 0;
    }
    void index();

private:
    // First DIE at or behind each 16th byte of the units: a search is a table look-up and a step
    // or two, over offsets that lie close together.
    std::vector<DieIndex> buckets_;
    std::vector<uint32_t> offsets_; // of each DIE; behind the last UINT32_MAX
    uint32_t first_offset_ = 0;
};

/// A compile unit as its header and its first entry describe it.
struct Unit {
    uint64_t offset = 0;     // of the header, in .debug_info
    uint64_t die_offset = 0; // of the unit's own DIE
    uint64_t end = 0;
    UnitWidths widths;
    std::shared_ptr<const AbbrevTable> abbrevs;
    uint64_t str_offsets_base = 0, addr_base = 0, loclists_base = 0;
    const char *name = nullptr;
    uint16_t language = 0; // DW_LANG_*
    bool clang = false;
    bool reads_foreign_units = false; // an abbreviation uses DW_FORM_ref_addr

    /// Entry `index` of the unit's part of .debug_addr.
    std::optional<AddressRef> indexed_address(const DwarfFile &file, uint64_t index) const;
};

/// All compile units of the file in order; others are counted in `skips`.
Result<std::vector<Unit>> list_units(const DwarfFile &file, Skips &skips);

/// Read one unit, or several as if they were one (link-time optimisation: they refer to each
/// other).
Result<DieTree> read_units(const DwarfFile &file, std::span<const Unit> units, Skips &skips);

} // namespace btflink::emit
