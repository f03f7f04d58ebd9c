// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pass: the variables of one unit that become VARs.
#pragma once

#include "emit/unit/unit_types.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink::emit
{

/// A defined variable. Type ids are those of UnitTypes; strings are owned by the DWARF or the file.
struct VariableCandidate {
    std::string_view name;
    TypeId type{};
    uint32_t flags = 0; // VariableFlag
    uint32_t size = 0;  // bytes
    AddressRef address;
    std::string_view section; // its name, or "" for common symbols
    std::vector<std::string_view> tags;
};

/// The longest name that is encoded.
constexpr size_t max_variable_name = 128;

/// In the order in which their DIEs end. `rejected`: variables of C that BTF cannot express. Those
/// of other languages are only counted in `skips`, because their source cannot avoid them.
std::vector<VariableCandidate> collect_variables(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips,
                                                 std::vector<RejectedVariable> &rejected);

} // namespace btflink::emit
