// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The findings of btf-kernel check.
#pragma once

#include "btf-kernel/package/kernel.h"

#include <string_view>

namespace btflink::kernel
{

enum class Rule : uint8_t {
    unreadable, // a file is damaged, or was refused
    no_btf,     // there is no BTF although the configuration asks for it
    empty,      // BTF without types
    verifier,   // BTF breaks a rule of the kernel (common/btf/btf_check.h)
    base,       // a module's BTF was made over another vmlinux
    ids,        // .BTF_ids does not match the BTF
    kfunc_func, // a kfunc has no FUNC
    kfunc_tag,  // a kfunc has no tag bpf_kfunc
    kfunc_impl, // implicit arguments are not hidden
    kfunc_type, // a kfunc takes a module's own copy of a kernel type
    redefined,  // a module has its own copy of a type of vmlinux
    ids_func,   // .BTF_ids names a function that has no FUNC
    ids_twice,  // .BTF_ids names a type that has two definitions
    enum64,     // enumerators may be cut to 32 bits
    per_cpu,    // per-CPU variables are not at the addresses of their symbols
    against,    // the other build has different BTF
    layout,     // some readers refuse BTF with a layout section
};
constexpr size_t rule_count = 17;

/// "kfunc-tag".
const char *rule_name(Rule rule);
/// Error: unknown name.
Result<Rule> parse_rule(std::string_view name);

/// The severity of a finding.
enum class Degree : uint8_t {
    error,      // a kernel refuses it, or a program breaks
    suspicious, // a program may break
    harmless,
};
/// "error", "suspicious", "harmless".
const char *degree_name(Degree degree);
/// Error: unknown name.
Result<Degree> parse_degree(std::string_view name);

struct Finding {
    Rule rule;
    std::string binary; // "vmlinux", or a module's name
    Error error;        // position and description
    // Findings with the same cause are printed as one line, with their subjects.
    std::string cause = {};   // the same words for all findings of one cause; empty: error.what
    std::string subject = {}; // the function or type that the finding is about, or empty
    Degree degree = Degree::error;

    const std::string &cause_text() const { return cause.empty() ? error.what : cause; }
};

/// The findings about one vmlinux or module, and the checks that could not be made.
struct Findings {
    std::vector<Finding> list;
    std::vector<Finding> notes; // harmless findings
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
    /// A check could not be made. Equal reasons are printed once for all modules.
    void skip(Rule rule, const Binary &binary, std::string why)
    {
        unchecked.push_back({rule, binary.name, {Where{binary.path}, std::move(why)}});
    }
};

} // namespace btflink::kernel
