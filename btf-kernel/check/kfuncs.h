// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks whether the ids in .BTF_ids match the BTF, and whether the BTF describes kfuncs as the
// kernel and program loaders expect.
#pragma once

#include "btf-kernel/check/findings.h"
#include "btf-kernel/check/redefinitions.h"
#include "common/btf/name_index.h"

#include <set>

namespace btflink::kernel
{

struct KfuncCounts {
    size_t kfuncs = 0, tagged = 0;
    std::set<uint32_t> taken; // types of their arguments, behind a pointer
};

/// `index`: the BTF of `binary`. `of_vmlinux`: the BTF of vmlinux if `binary` is a module.
/// `redefined`: types of the module that vmlinux also has. `needs_tags`: kfuncs must have the tag
/// bpf_kfunc.
KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, bool needs_tags, Findings &out);

/// Does any FUNC have the tag bpf_kfunc? FUNCs of the base do not count.
bool has_kfunc_tags(const NameIndex &index);

} // namespace btflink::kernel
