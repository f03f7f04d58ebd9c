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
    ids_func,   // .BTF_ids names a function without FUNC
    ids_twice,  // .BTF_ids names a type that is there twice
    enum64,     // enumerators may be cut to 32 bits
    per_cpu,    // per-CPU variables are not where the symbols are
    against,    // another build of it has other BTF
    layout,     // some readers refuse BTF with a layout section
};
constexpr size_t rule_count = 17;

/// "kfunc-tag".
const char *rule_name(Rule rule);
/// Error: there is no such rule.
Result<Rule> parse_rule(std::string_view name);

/// What becomes of it.
enum class Degree : uint8_t {
    error,      // a kernel refuses it, or a program breaks
    suspicious, // a program may break
    harmless,
};
/// "error", "suspicious", "harmless".
const char *degree_name(Degree degree);
/// Error: there is no such degree.
Result<Degree> parse_degree(std::string_view name);

struct Finding {
    Rule rule;
    std::string binary; // "vmlinux", or a module's name
    Error error;        // where, and what
    // What is found often is said once: by its cause, with its subjects.
    std::string cause = {};   // the same words for all of one cause; empty: error.what
    std::string subject = {}; // the function or type; empty: none
    Degree degree = Degree::error;

    const std::string &cause_text() const { return cause.empty() ? error.what : cause; }
};

/// Of one vmlinux or module. Checks that cannot be made do not make a kernel bad, but each of these
/// is said.
struct Findings {
    std::vector<Finding> list;
    std::vector<Finding> notes; // the harmless ones
    std::vector<Finding> unchecked;

    void add(Finding finding)
    {
        (finding.degree == Degree::harmless ? notes : list).push_back(std::move(finding));
    }
    void add(Rule rule, const std::string &binary, Error error)
    {
        add({rule, binary, std::move(error)});
    }
    void note(Rule rule, const std::string &binary, Error error)
    {
        add({.rule = rule,
             .binary = binary,
             .error = std::move(error),
             .degree = Degree::harmless});
    }
    /// `why`: the same words for all modules of which it is true.
    void skip(Rule rule, const Binary &binary, std::string why)
    {
        unchecked.push_back({rule, binary.name, {Where{binary.path}, std::move(why)}});
    }
};

} // namespace btflink::kernel
