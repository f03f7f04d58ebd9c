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
    unreadable, // a file is damaged, cannot be read, or was left out (see Kernel::left_out)
    no_btf,     // there is no vmlinux, or vmlinux or a module has no .BTF
    empty,      // BTF without types
    verifier,   // BTF is malformed, or breaks a rule of the kernel (common/btf/btf_check.h)
    base,       // a module's BTF does not fit vmlinux, or an image is from another build
    ids,        // .BTF_ids was not filled in, is malformed, or does not match the BTF
    kfunc_func, // a kfunc has no FUNC
    kfunc_tag,  // a kfunc has no tag bpf_kfunc
    kfunc_impl, // programs see a kfunc's implicit arguments, or there is no FUNC NAME_impl
    kfunc_type, // a kfunc takes or returns a type that the module defines again (see redefined)
    redefined,  // a module defines a type whose name vmlinux has, too
    ids_func,   // .BTF_ids names a function that has no FUNC
    ids_twice,  // .BTF_ids names a type that has several definitions
    enum64,     // enumerators may be cut to 32 bits
    per_cpu,    // per-CPU variables differ from the symbols in .data..percpu
    against,    // the build of --against differs
    layout,     // the BTF has a layout section, which some readers refuse
};
constexpr const char *rule_names[] = {
    "unreadable", "no-btf",    "empty",      "verifier",   "base",      "ids",
    "kfunc-func", "kfunc-tag", "kfunc-impl", "kfunc-type", "redefined", "ids-func",
    "ids-twice",  "enum64",    "per-cpu",    "against",    "layout",
};
static_assert(std::size(rule_names) == static_cast<size_t>(Rule::layout) + 1);
/// The name of a rule in options and output: "kfunc-tag".
constexpr const char *rule_name(Rule rule)
{
    return rule_names[static_cast<size_t>(rule)];
}

/// The severity of a finding.
enum class Degree : uint8_t {
    // A kernel refuses the BTF, a program breaks, something that must be there is missing or
    // unreadable, or two builds differ (rules `against` and `base`).
    error,
    suspicious, // a program may break
    harmless,   // no program breaks, except outdated ones: see Rule::layout
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
    std::vector<std::string> binaries; // in the order of checks: "vmlinux", if it is there, first
};

struct Findings {
    std::vector<Finding> list;           // in the order of the checks
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
    std::optional<KernelVersion> version; // its rules were applied; std::nullopt: the newest ones
    size_t modules = 0, with_btf = 0;
    size_t kfuncs = 0, tagged = 0; // sums of KfuncCounts
};

/// `version`: whose rules apply; std::nullopt: the kernel's own version or, if that is not known,
/// the newest kernel's. (Whether kfuncs must have tags depends on the kernel's own version.)
CheckReport check_kernel(const Kernel &kernel, std::optional<KernelVersion> version = {});

/// Adds findings of rule `against`: differences of vmlinux, of the compiler, configuration, user
/// and time, and of modules; also what cannot be read or compared. Modules that differ only because
/// vmlinux differs are counted in one harmless finding.
void compare_builds(const Kernel &here, const Kernel &there, Findings &out);

// The single checks.

/// A struct, union or enum of a module, with the name and kind of a type of vmlinux. ENUM and
/// ENUM64 count as one kind.
struct Redefinition {
    TypeId own{}, base{}; // the module's type, and that of vmlinux
    enum class Why : uint8_t {
        copy,    // nothing differs: the module should use the base's type
        derived, // only other structs, unions or enums, to which the type refers, differ
        clash,   // the type differs, or a typedef, declaration or unnamed type that it uses
    };
    Why why = Why::copy;
    // A difference of this type or, if the type is derived, of `root`; empty for a copy.
    std::string cause;
    std::string root;      // for a derived type: the name of the clash that makes it differ
    bool declared = false; // `cause` says that one side only declares a type that the other defines
};

/// The types that a module defines again, sorted by id. `split`: the BTF of the module. `vmlinux`
/// and `names` are made from the BTF of vmlinux, the base of `split`.
std::vector<Redefinition> find_redefinitions(const std::shared_ptr<const Btf> &split,
                                             const diff::Side &vmlinux, const NameIndex &names);

/// The difference between two types of one BTF with the same kind and name, or between types to
/// which these two refer; "nothing differs" if none is found.
std::string why_two(const Btf &btf, TypeId a, TypeId b);

struct KfuncCounts {
    // Kfuncs that have a FUNC; those of them that have the tag. A kfunc in several sets counts
    // once.
    size_t kfuncs = 0, tagged = 0;
    std::set<uint32_t> passed_types; // ids: types of arguments, or those to which arguments point
};

/// Adds findings about two questions: do the ids in .BTF_ids match the BTF, and does the BTF
/// describe kfuncs as the kernel and program loaders expect? `index`: the BTF of `binary`.
/// `of_vmlinux`: the BTF of vmlinux; null if there is no valid one. For vmlinux itself it must
/// point to `index`, because this tells vmlinux from a module. `redefined`: the result of
/// find_redefinitions(), or empty. `kernel`: the version whose rules apply; std::nullopt: the
/// newest kernel's. `needs_tags`: kfuncs must have the tag bpf_kfunc.
KfuncCounts check_kfuncs(const Binary &binary, const NameIndex &index, const NameIndex *of_vmlinux,
                         std::span<const Redefinition> redefined,
                         std::optional<KernelVersion> kernel, bool needs_tags, Findings &out);

/// Does any function have the tag bpf_kfunc? Tags in the base do not count.
bool has_kfunc_tags(const NameIndex &index);

} // namespace btflink::kernel
