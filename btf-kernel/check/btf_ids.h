// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The section .BTF_ids: ids of types and functions that the kernel's C code asked for by name
// (include/linux/btf_ids.h), filled in behind the link.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "common/btf/kernel_forms.h"

#include <optional>
#include <string>
#include <vector>

namespace btflink::kernel
{

struct IdEntry {
    uint32_t id = 0; // 0: there was none when it was filled in
    uint32_t flags = 0;
};

/// One id, or a sorted set of them.
struct IdSet {
    std::string name; // of a set; empty: no symbol tells it
    std::string kind; // of a single id: "struct", "union", "typedef", "func"; of a set empty
    uint64_t offset = 0;
    bool with_flags = false; // a SET8
    bool of_kfuncs = false;  // all SET8 before 6.9, and after it those that say so
    std::vector<IdEntry> entries;
    std::vector<std::string>
        names; // that were asked for, not in the order of entries; perhaps none
};

/// All of the section, by offset. Without symbols only sets of kfuncs can be found, by their looks:
/// `btf` tells which ids are functions. Error: a set does not fit into the section.
Result<std::vector<IdSet>> read_btf_ids(const Binary &binary, const Btf &btf,
                                        std::optional<KernelVersion> kernel);

} // namespace btflink::kernel
