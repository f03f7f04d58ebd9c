// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pass: describes the functions of one unit that may become FUNCs: each named instance with named
// parameters, and the properties by which the merge chooses.
#pragma once

#include "emit/unit/unit_types.h"

#include <memory>
#include <string_view>
#include <vector>

namespace btflink::emit
{

struct FunctionParam {
    std::string_view name;
    std::string_view member; // if not empty, the parameter is named name__member
    TypeId type{};
    bool operator==(const FunctionParam &) const = default;
};

struct FunctionTag {
    std::string_view text;
    int32_t component; // -1 or index of the parameter
    bool operator==(const FunctionTag &) const = default;
};

/// One instance of a function; type ids are those of UnitTypes. Strings are owned by the DWARF.
struct FunctionCandidate {
    std::string_view name;
    uint32_t flags = 0; // FunctionFlag
    TypeId result{};
    std::vector<FunctionParam> params; // a trailing {"", "", void} stands for "..."
    std::vector<FunctionTag> tags;
    // With the feature linkage_names, if the symbol differs from the name: the symbol, and its
    // language, such as "c++14".
    std::string_view symbol;
    std::string language;
    std::optional<AddressRef> address;
    // With the feature true_signature, if the compiler states that it changed the signature: the
    // function with the parameters that are really passed.
    std::unique_ptr<FunctionCandidate> true_signature;
};

/// Returned in the order in which their DIEs end.
std::vector<FunctionCandidate> collect_functions(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips);

} // namespace btflink::emit
