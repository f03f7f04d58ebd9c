// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The register that holds a parameter when its function is entered, according to the parameter's
// location. The DWARF readers decode locations, and share these rules.
#pragma once

#include "emit/tree/die_tree.h"

#include <span>

namespace btflink::emit
{

/// An operation of a location expression.
struct LocationOp {
    uint8_t atom;      // DW_OP_*
    uint64_t number;   // first operand
    uint64_t position; // of the operand, if the reader needs it
};

/// DW_OP_reg0 to DW_OP_reg31.
bool is_register_op(uint8_t atom);
/// DW_OP_entry_value, whose operand is an expression.
bool is_entry_value_op(uint8_t atom);

/// Collects the entries of a location list. A lone expression is a list of one entry.
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

} // namespace btflink::emit
