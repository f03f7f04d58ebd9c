// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The section .BTF_ids: ids of types and functions that the kernel's C code asks for by name
// (include/linux/btf_ids.h). resolve_btfids fills it in after the link.
#pragma once

#include "btf-kernel/package/kernel.h"
#include "common/btf/kernel_forms.h"

#include <optional>
#include <string>
#include <vector>

namespace btflink::kernel
{

struct IdEntry {
    uint32_t id = 0; // 0: the BTF lacks the type
    uint32_t flags = 0;
};

/// One id, or a sorted set of them.
struct IdSet {
    std::string name; // of a set; empty if there is no symbol for it
    std::string kind; // of a single id: "struct", "union", "typedef", "func"; empty for a set
    btf::Kind type_kind = btf::Kind::VOID; // of a single id
    uint64_t offset = 0;
    bool with_flags = false; // a SET8
    bool of_kfuncs = false;  // before 6.9 every SET8; later marked by a flag of the set
    std::vector<IdEntry> entries;
    std::vector<std::string> names; // of the entries, in another order; may be empty
};

/// All ids and sets, by offset. Without symbols only sets of kfuncs are found, by their form: their
/// ids are functions of `btf`. Error: a set does not fit into the section.
Result<std::vector<IdSet>> read_btf_ids(const Binary &binary, const Btf &btf,
                                        std::optional<KernelVersion> kernel);

} // namespace btflink::kernel
