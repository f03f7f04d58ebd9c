// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// All checks of a kernel and its modules: the findings, the drivers, and the single checks.
#pragma once

#include "btf-kernel/diff/compare.h"
#include "btf-kernel/package/kernel.h"
#include "common/btf/btf_check.h"

#include <set>

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
    kfunc_impl, // implicit arguments are not hidden, or there is no FUNC NAME_impl
    kfunc_type, // a kfunc takes a module's own copy of a kernel type
    redefined,  // a module has its own copy of a type of vmlinux
    ids_func,   // .BTF_ids names a function that has no FUNC
    ids_twice,  // .BTF_ids names a type that has two definitions
    enum64,     // enumerators may be cut to 32 bits
    per_cpu,    // per-CPU variables are not at the addresses of their symbols
    against,    // the other build has different BTF
    layout,     // some readers refuse BTF with a layout section
};
constexpr const char *rule_names[] = {
    "unreadable", "no-btf",    "empty",      "verifier",   "base",      "ids",
    "kfunc-func", "kfunc-tag", "kfunc-impl", "kfunc-type", "redefined", "ids-func",
    "ids-twice",  "enum64",    "per-cpu",    "against",    "layout",
};
static_assert(std::size(rule_names) == static_cast<size_t>(Rule::layout) + 1);
/// "kfunc-tag".
constexpr const char *rule_name(Rule rule)
{
    return rule_names[static_cast<size_t>(rule)];
}

/// The severity of a finding.
enum class Degree : uint8_t {
    error,      // a kernel refuses it, or a program breaks
    suspicious, // a program may break
    harmless,
};
constexpr const char *degree_names[] = {"error", "suspicious", "harmless"};
constexpr const char *degree_name(Degree degree)
{
    return degree_names[static_cast<size_t>(degree)];
}

struct Finding {
    Rule rule;
    std::string binary; // "vmlinux", a module's name, or empty
    Error error;        // position and description
    Degree degree;
    // Findings with the same cause are printed as one line, with their subjects.
    std::string subject; // the function or type that the finding is about, or empty
    std::string cause;   // the same words for all findings of one cause; empty: error.what

    const std::string &cause_text() const { return cause.empty() ? error.what : cause; }
};

/// A check that could not be made. Equal reasons are printed once for all modules.
struct SkippedCheck {
    Rule rule;
    std::string why;
    std::vector<std::string> binaries; // "vmlinux" comes first
};

struct Findings {
    std::vector<Finding> list;           // vmlinux first, then modules by path
    std::vector<SkippedCheck> unchecked; // one for each rule and reason

    /// The arguments are the fields of a Finding.
    void add(Rule rule, const std::string &binary, Error error, Degree degree = Degree::error,
             const std::string &subject = "", const std::string &cause = "")
    {
        list.push_back({rule, binary, std::move(error), degree, subject, cause});
    }
    void skip(Rule rule, const std::string &binary, const std::string &why);
};

struct CheckReport {
    Findings found;
    std::optional<KernelVersion> version; // whose rules were applied
    size_t modules = 0, with_btf = 0;
    size_t kfuncs = 0, tagged = 0; // kfuncs that have a FUNC; kfuncs that also have the tag
};

/// `version`: whose rules apply; empty: the kernel's own version.
CheckReport check_kernel(const Kernel &kernel, std::optional<KernelVersion> version = {});

/// Adds findings of rule `against`: of vmlinux, then of modules by path. Modules that differ only
/// because vmlinux differs are counted in a note.
void compare_builds(const Kernel &here, const Kernel &there, Findings &out);

// The single checks.

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

/// Sorted by id. `split`: the BTF of the module. `vmlinux`, `names`: of its base.
std::vector<Redefinition> find_redefinitions(const std::shared_ptr<const Btf> &split,
                                             const diff::Side &vmlinux, const NameIndex &names);

/// The difference between two types of one BTF with the same kind and name, or between types to
/// which they refer.
std::string why_two(const Btf &btf, TypeId a, TypeId b);

struct KfuncCounts {
    size_t kfuncs = 0, tagged = 0;
    std::set<uint32_t> passed_types; // ids: types of arguments, or those to which arguments point
};

/// Do the ids in .BTF_ids match the BTF, and does the BTF describe kfuncs as the kernel and program
/// loaders expect? `index`: the BTF of `binary`. `of_vmlinux`: the BTF of vmlinux if `binary` is a
/// module. `redefined`: types of the module that vmlinux also has. `kernel`: whose rules apply;
/// empty: the newest kernel's. `needs_tags`: kfuncs must have the tag bpf_kfunc.
KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, bool needs_tags, Findings &out);

/// Does any FUNC have the tag bpf_kfunc? FUNCs of the base do not count.
bool has_kfunc_tags(const NameIndex &index);

} // namespace btflink::kernel
