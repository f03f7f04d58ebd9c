// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the registers of a function's parameters with those that the ABI prescribes. Finds
// parameters that callers in other files would put elsewhere, and those that are not passed at all.
#pragma once

#include "common/elf/arch.h"
#include "emit/unit/type_layout.h"

#include <span>

namespace btflink::emit
{

struct Param {
    DieIndex die = 0;
    const char *name = nullptr;
    DieIndex type_of = 0; // the DIE with DW_AT_type: `die` or its origin
    uint32_t position = 0;
    uint64_t size = 0;
    bool in_memory = false;
    bool has_location = false;
    bool has_const_value = false;
    bool is_constant = false, on_stack = false; // see ParamLocation
    int reg = -1;                               // -1: unknown
    uint64_t pieces = 0;                        // see ParamLocation; 0 if it fits a register
    // Results:
    bool optimized = false;  // not passed, or without any location
    bool unexpected = false; // not in the register that the ABI prescribes
    DieIndex member = 0;     // the only member in a register; the parameter is named after it
    bool is_member = false;  // `member` is in the register where the whole struct would begin
    bool dropped = false;    // omitted from the true signature
};

class ParamRegisters
{
public:
    ParamRegisters(const Arch &arch, const DieTree &tree, const TypeLayout &layout)
        : arch_(arch), tree_(tree), layout_(layout)
    {
    }

    /// For clang, which keeps the ABI unless it states otherwise.
    void check_kept_signature(std::span<Param> params) const;
    /// For other compilers, and for functions whose signature clang has changed: compares the
    /// prototype of the source with the locations.
    void check(std::span<Param> params) const;
    /// For functions whose signature clang has changed: finds the parameters that are left, and
    /// those of which only a member is left. Uncertain ones count as unexpected.
    void find_true_signature(std::span<Param> params) const;

private:
    uint32_t slots(const Param &p) const;
    int expected(uint32_t index) const;
    bool is_at(const Param &p, uint32_t index) const;
    DieIndex member_at(const Param &p, uint64_t offset) const;

    const Arch &arch_;
    const DieTree &tree_;
    const TypeLayout &layout_;
};

} // namespace btflink::emit
