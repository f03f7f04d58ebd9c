// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pass: the variables of one unit that become VARs.
#pragma once

#include "emit/unit/unit_types.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink::emit
{

/// One defined variable; type ids are those of UnitTypes. Strings live in the DWARF or the file.
struct VariableCandidate {
    std::string_view name;
    TypeId type{};
    uint32_t flags = 0; // VariableFlag
    uint32_t size = 0;  // bytes
    AddressRef address;
    std::string_view section; // of the file; "" for common symbols and in linked files without one
    std::vector<std::string_view> tags;
};

/// Longer names are not allowed.
constexpr size_t max_variable_name = 128;

/// In the order in which their DIEs end. Those of C that cannot be expressed come out in
/// `rejected`; of other languages, such variables are no fault of the source, and only counted.
std::vector<VariableCandidate> collect_variables(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips,
                                                 std::vector<RejectedVariable> &rejected);

} // namespace btflink::emit
