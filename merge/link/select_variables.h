// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Selects the variables that get a VAR, and computes their sections and offsets.
#pragma once

#include "common/object_btf/features.h"
#include "merge/link/resolve_addresses.h"

#include <array>
#include <string>
#include <vector>

namespace btflink::merge
{

/// Why a variable is left out.
enum class VariableSkip : uint8_t {
    none,
    other_section, // in a section that the features do not select
    discarded,     // dropped by the linker
    undefined,     // defined nowhere
    common,        // gets its address at the final link
    no_address,    // its address is unknown
    duplicate,     // another definition (weak or strong) at the same place
    overlap,       // begins inside another variable, which kernels refuse
    too_large,     // offset or size above 32 bits
    no_size,
    count,
};
const char *skip_name(VariableSkip skip);

struct SelectedVariable {
    uint32_t object;
    uint32_t index; // into Object::variables
    uint32_t offset;
};

struct DataSection {
    std::string_view name;
    std::vector<SelectedVariable> entries; // by offset
    uint32_t size = 0;                     // end of the last entry; of raw BTF at least as stated
};

struct SkippedVariable {
    std::string_view name;
    uint32_t object;
    VariableSkip reason;
};

struct Variables {
    std::vector<DataSection> sections;
    std::vector<std::vector<bool>> kept; // [object][variable]; some without a section
    std::vector<SkippedVariable> skipped;
    std::array<uint32_t, static_cast<size_t>(VariableSkip::count)> skip_counts{};
};

Variables select_variables(const std::vector<Object> &objects, const Image &image,
                           const Locations &locations, FeatureSet features);

} // namespace btflink::merge
