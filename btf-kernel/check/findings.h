// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What btf-kernel check finds.
#pragma once

#include "btf-kernel/package/kernel.h"

#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel
{

enum class Rule : uint8_t {
    unreadable, // a file is damaged, or was refused
    no_btf,     // what the configuration promises is not there
    empty,      // BTF without types
    verifier,   // the kernel's rules for BTF (common/btf/btf_check.h)
    base,       // made over another vmlinux
    ids,        // .BTF_ids does not fit the BTF
    kfunc_func, // a kfunc without FUNC
    kfunc_tag,  // a kfunc without bpf_kfunc tag
    kfunc_impl, // implicit arguments that are not hidden
    kfunc_type, // a kfunc that takes a module's own copy of a kernel type
    redefined,  // a module has types of its own that vmlinux has
    per_cpu,    // per-CPU variables are not where the symbols are
    against,    // another build of it has other BTF
    layout,     // some readers refuse BTF with a layout section
};
constexpr size_t rule_count = 14;

/// "kfunc-tag".
const char *rule_name(Rule rule);
/// Error: there is no such rule.
Result<Rule> parse_rule(std::string_view name);

struct Finding {
    Rule rule;
    std::string binary; // "vmlinux", or a module's name
    Error error;        // where, and what
};

/// Of one vmlinux or module. Notes do not make a kernel bad; nor do checks that cannot be made, but
/// each of these is said.
struct Findings {
    std::vector<Finding> list, notes, unchecked;

    void add(Rule rule, const std::string &binary, Error error)
    {
        list.push_back({rule, binary, std::move(error)});
    }
    void note(Rule rule, const std::string &binary, Error error)
    {
        notes.push_back({rule, binary, std::move(error)});
    }
    /// `why`: the same words for all modules of which it is true.
    void skip(Rule rule, const Binary &binary, std::string why)
    {
        unchecked.push_back({rule, binary.name, {Where{binary.path}, std::move(why)}});
    }
};

} // namespace btflink::kernel
