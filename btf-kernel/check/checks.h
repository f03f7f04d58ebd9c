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
    Tags tags = Tags::no;
    std::set<uint32_t> taken = {}; // types that vmlinux's kfuncs take
};

/// Check vmlinux, and fill in the context with its BTF.
KfuncCounts check_vmlinux(CheckContext &context, Findings &out);

/// Check a module over vmlinux.
KfuncCounts check_module(const CheckContext &context, const Binary &module, Findings &out);

/// Does the BTF follow the kernel's rules (common/btf/btf_check.h)? `blob`: the bytes of `btf`.
bool verify_blob(const CheckContext &context, const Binary &binary, Bytes blob, const Btf &btf,
                 const Where &where, Findings &out);

/// Finds enums of 8 bytes that are not ENUM64.
void check_enums(const CheckContext &context, const Binary &binary, const Btf &btf, Findings &out);

/// Reports the types of a module that vmlinux also has.
void report_redefined(const CheckContext &context, const Binary &module, const Btf &btf,
                      const std::vector<Redefinition> &redefined, Findings &out);

/// Compare the DATASEC .data..percpu of `btf` with the symbols of `binary`.
void check_per_cpu(const Binary &binary, const Btf &btf, Findings &out);

/// Report images whose banner differs from that of vmlinux. If modules have a finding of rule
/// `base` in `found`, also report the releases that these modules state.
void check_other_builds(const Kernel &kernel, const std::vector<Finding> &found, Findings &out);

} // namespace btflink::kernel
