// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks whether the ids in .BTF_ids match the BTF, and whether the BTF describes kfuncs as the
// kernel and program loaders expect.
#pragma once

#include "btf-kernel/check/findings.h"
#include "common/btf/base_match.h"

#include <set>

namespace btflink::kernel
{

/// A struct, union or enum of a module whose name is also in vmlinux.
struct Redefinition {
    TypeId own{}, base{}; // the module's type, and that of vmlinux
    enum class Why : uint8_t {
        copy,    // nothing differs: the module should use the base's type
        derived, // only types that it refers to differ
        clash,   // the type itself differs
    };
    Why why = Why::copy;
    std::string cause;     // the member that differs, and how; empty for a copy
    std::string root;      // for a derived type: the name of the type that differs
    bool declared = false; // only one side defines the differing type, the other declares it
};

/// By id. `split`: the BTF of the module, whose base is the BTF of `names`.
std::vector<Redefinition> find_redefinitions(const Btf &split, const NameIndex &names);

/// The difference between two types of one BTF with the same kind and name, or between types to
/// which they refer.
std::string why_two(const Btf &btf, TypeId a, TypeId b);

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
