// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The checks of one kernel, and the data that they share.
#pragma once

#include "btf-kernel/check/findings.h"
#include "btf-kernel/check/kfuncs.h"
#include "btf-kernel/package/kernel.h"
#include "common/btf/name_index.h"

#include <memory>
#include <optional>
#include <set>
#include <string_view>

namespace btflink::kernel
{

struct CheckContext {
    const Kernel &kernel;
    std::optional<KernelVersion> version = {}; // whose rules apply; empty: the newest kernel's
    // check_vmlinux() sets the rest.
    std::shared_ptr<const Btf> vmlinux = {}; // null: there is no BTF that follows the rules
    std::optional<NameIndex> names = {};     // of vmlinux
    bool needs_tags = false;                 // kfuncs must have the tag bpf_kfunc
    std::set<uint32_t> taken = {};           // types that vmlinux's kfuncs take
};

/// Check vmlinux, and fill in the context with its BTF.
KfuncCounts check_vmlinux(CheckContext &context, Findings &out);

/// Check a module over vmlinux.
KfuncCounts check_module(const CheckContext &context, const Binary &module, Findings &out);

} // namespace btflink::kernel
