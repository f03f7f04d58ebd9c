// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The object BTF that a relocatable file already has, its own or that of the objects that it was
// linked from. It is kept when missing units are added.
#pragma once

#include "common/elf/elf_image.h"
#include "common/object_btf/features.h"
#include "emit/object/object_writer.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::emit
{

/// Names of source files (DW_AT_name of the unit), with the number of objects that have it.
using SourceCounts = std::map<std::string, uint32_t, std::less<>>;

struct ExistingBtf {
    std::vector<std::byte> btf; // all of it, contribution by contribution
    std::vector<NewReloc> btf_relocs;
    std::vector<std::byte> pool; // address pools; empty also where DWARF's own addresses are among
                                 // them: then the section stays as it is
    std::vector<NewReloc> pool_relocs;
    SourceCounts sources;
    /// That it was emitted with; of several objects all that any has. Nothing: there is none of
    /// ours.
    std::optional<FeatureSet> features;
    bool has_pool = false; // there is an address pool, empty or not
};

/// Errors: `.BTF` that is no sequence of contributions, relocations that are not of the section's
/// type.
Result<ExistingBtf> read_existing_btf(const ElfImage &image, const Arch &arch);

} // namespace btflink::emit
