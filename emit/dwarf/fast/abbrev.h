// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Abbreviations (DWARF 5, section 7.5.3), compiled once per unit into steps: the attributes that
// BTF needs, and how many bytes of other attributes (line numbers, alignments ...) precede each.
#pragma once

#include "emit/dwarf/dwarf_file.h"
#include "emit/tree/die_tree.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace btflink::emit
{

/// Widths that forms depend on.
struct UnitWidths {
    uint16_t version = 5;
    uint8_t address = 8;
    uint8_t offset = 4; // of DW_FORM_sec_offset, strp ...: 4, in 64-bit DWARF 8
    bool operator==(const UnitWidths &) const = default;
};

/// The size of a value of `form`, or -1 if it depends on the value.
int fixed_form_size(uint32_t form, const UnitWidths &widths);

/// Skip `skip` bytes, then read a value of `form`. If `attribute` is 0, the value is skipped, too:
/// its size varies, or this is the end of the attributes.
struct AbbrevStep {
    uint16_t attribute = 0; // DW_AT_*, or 0
    uint16_t form = 0;      // DW_FORM_*, 0: nothing to read (end)
    uint32_t skip = 0;
    int64_t implicit = 0; // DW_FORM_implicit_const
};

struct Abbrev {
    uint16_t tag = 0;
    bool known = false, children = false;
    bool declares = false;      // has DW_AT_declaration
    bool has_signature = false; // its type is in a type unit of split DWARF
    uint32_t first = 0;         // steps, in AbbrevTable::steps
    uint32_t count = 0;
    uint32_t skip_first = 0; // steps to skip an entry that BTF does not need
    uint32_t skip_count = 0;
};

class AbbrevTable
{
public:
    /// Parses the table at `offset` of .debug_abbrev. `only`: keep the abbreviation with this code
    /// alone. uses_ref_addr() always covers all of them.
    static Result<AbbrevTable> parse(const DwarfFile &file, uint64_t offset,
                                     const UnitWidths &widths,
                                     std::optional<uint64_t> only = std::nullopt);

    /// nullptr: not in the table.
    const Abbrev *find(uint64_t code) const
    {
        if (code < dense_.size())
            return dense_[code].known ? &dense_[code] : nullptr;
        auto it = sparse_.find(code);
        return it == sparse_.end() ? nullptr : &it->second;
    }
    const AbbrevStep *steps(uint32_t first) const { return steps_.data() + first; }
    /// May an entry refer to another unit (DW_FORM_ref_addr)?
    bool uses_ref_addr() const { return uses_ref_addr_; }

private:
    std::vector<Abbrev> dense_; // by code; compilers count from 1
    std::unordered_map<uint64_t, Abbrev> sparse_;
    std::vector<AbbrevStep> steps_;
    bool uses_ref_addr_ = false;
};

} // namespace btflink::emit
