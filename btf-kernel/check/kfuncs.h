// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Does .BTF_ids name what the BTF has, and are the functions that BPF programs may call described
// as the kernel and its loaders want it?
#pragma once

#include "btf-kernel/check/btf_ids.h"
#include "btf-kernel/check/findings.h"
#include "btf-kernel/check/redefinitions.h"
#include "common/btf/name_index.h"

#include <set>

namespace btflink::kernel
{

struct KfuncCounts {
    size_t kfuncs = 0, tagged = 0;
    std::set<uint32_t> taken; // types that they take, behind a pointer
};

/// Whether kfuncs must have tags.
enum class Tags : uint8_t { no, yes };

/// `index`: of the BTF of `binary` itself. `of_vmlinux`: the same of vmlinux; it may be the same.
/// `redefined`: types of the module that vmlinux has.
KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, Tags tags, Findings &out);

/// Does any FUNC of the blob itself have the tag bpf_kfunc?
bool has_kfunc_tags(const NameIndex &index);

} // namespace btflink::kernel
