// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the object BTF that a relocatable file already has: its own, or that of the objects from
// which it was linked. It is kept when missing units are added.
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

/// Counts per source file (DW_AT_name of a unit).
using SourceCounts = std::map<std::string, uint32_t, std::less<>>;

struct ExistingBtf {
    /// All of it, contribution by contribution. Without pools if DWARF's own addresses are among
    /// them, because then the section is not replaced.
    ObjectBtf all;
    SourceCounts sources;
    /// The union over all objects. Nothing if no BTF was made by btflink.
    std::optional<FeatureSet> features;
    bool has_pool = false; // there is an address pool, empty or not
};

/// Errors: `.BTF` is not a sequence of contributions; a relocation has an unexpected type.
Result<ExistingBtf> read_existing_btf(const ElfImage &image, const Arch &arch);

} // namespace btflink::emit
