// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks vmlinux, then all modules over it. If the BTF of a file violates the kernel's rules, or
// that of a module without .BTF.base was made over another vmlinux, further checks of the file are
// skipped, because they rely on correct references. Split BTF without .BTF.base is not checked if
// there is no valid BTF of vmlinux. The report names all checks that were left out.
//
// A module's own copy of a type of vmlinux, without any difference, is the encoder's fault. The
// copy matters if kfuncs or helpers take the type: a program cannot pass them a value of the copy's
// type.
#include "btf-kernel/check/check_kernel.h"

#include "btf-kernel/diff/types.h"
#include "common/btf/btf_check.h"
#include "common/cli/program.h"
#include "merge/input/final_btf.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <set>

namespace btflink::kernel
{

namespace
{

/// One kernel, and the data that its checks share.
struct CheckContext {
    const Kernel &kernel;
    std::optional<KernelVersion> version = {}; // its rules apply; std::nullopt: the newest ones
    // check_vmlinux() sets the rest.
    std::shared_ptr<const Btf> vmlinux = {}; // null: there is no vmlinux with valid BTF
    std::optional<NameIndex> names = {};     // of vmlinux
    std::optional<diff::Side> side = {};     // vmlinux to compare modules with, if there are any
    bool needs_tags = false;                 // kfuncs must have the tag bpf_kfunc
    std::set<uint32_t> passed_types = {};    // ids of types that vmlinux's kfuncs take
};

// Reasons for checks that are left out.
constexpr const char *no_vmlinux = "there is no valid BTF of vmlinux";
constexpr const char *wrong_references =
    "BTF with findings of verifier or base may refer to wrong types";

/// Rule::ids stands for all rules about .BTF_ids.
void skip(std::initializer_list<Rule> rules, const Binary &binary, const char *why, Findings &out)
{
    for (Rule rule : rules)
        out.skip(rule, binary.name, why);
}

/// `compared`: compare_base() was called. (It compares nothing if the header is malformed.)
void skip_rest_of_module(const Binary &module, bool compared, Findings &out)
{
    if (!compared)
        skip({Rule::base}, module, wrong_references, out);
    skip({Rule::ids, Rule::redefined, Rule::enum64, Rule::per_cpu}, module, wrong_references, out);
}

/// Adds findings for violations of the kernel's rules (common/btf/btf_check.h). Returns whether
/// there are none. `blob`: the bytes of `btf`.
bool verify_blob(const CheckContext &context, const Binary &binary, Bytes blob, const Btf &btf,
                 const Where &where, Findings &out)
{
    auto found = merge::list_violations(blob, btf, where, binary.address_size, context.version);
    for (Error &error : found)
        out.add(Rule::verifier, binary.name, std::move(error));
    return found.empty();
}

/// Reports enums with 64-bit values of which an encoder without ENUM64 wrote only the low halves.
/// The findings are harmless for kernels before 6.0, which cannot read ENUM64.
void check_enums(const CheckContext &context, const Binary &binary, const Btf &btf, Findings &out)
{
    const Degree degree = !context.version                          ? Degree::suspicious
                          : *context.version >= KernelVersion{6, 0} ? Degree::error
                                                                    : Degree::harmless;
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::ENUM || t.size != 8 || !btf::vlen_of(t))
            continue;
        const std::string name = t.name_off
                                     ? "enum " + std::string(btf.name(id))
                                     : "enum with " + std::string(btf.str(btf::tail_of(t)[0]));
        out.add(Rule::enum64, binary.name,
                {binary.btf_where,
                 name + " has 8 bytes and is not an ENUM64: its values are cut to 32 bits"},
                degree, name,
                "values of enums with 8 bytes are cut to 32 bits: made without ENUM64");
    }
}

/// The problem with the per-CPU variable `name`, whose DATASEC entry is `entry`; "" if there is
/// none.
std::string per_cpu_problem(const Binary &binary, std::string_view name,
                            const btf_var_secinfo &entry)
{
    // Link-time optimisation may append a suffix to the symbol of a static variable: ".llvm.123".
    auto is_named = [&](const SectionSymbol &symbol) {
        const std::string_view whole = symbol.name;
        return whole.starts_with(name) &&
               (whole.size() == name.size() || whole[name.size()] == '.');
    };
    auto symbol = std::ranges::lower_bound(binary.percpu, entry.offset, {}, &SectionSymbol::offset);
    std::string there;
    for (; symbol != binary.percpu.end() && symbol->offset == entry.offset; ++symbol) {
        if (is_named(*symbol))
            return symbol->size == entry.size ? ""
                                              : strf("has %u bytes, the symbol ", entry.size) +
                                                    std::to_string(symbol->size);
        there = symbol->name;
    }
    if (!there.empty())
        return "the symbol " + there + " is there";
    auto elsewhere = std::ranges::find_if(binary.percpu, is_named);
    if (elsewhere == binary.percpu.end())
        return "there is no symbol of this name";
    return "the symbol is at " + std::to_string(elsewhere->offset);
}

/// Compares the DATASEC .data..percpu with the symbols in the section of that name.
void check_per_cpu(const Binary &binary, const Btf &btf, Findings &out)
{
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::DATASEC || btf.name(id) != ".data..percpu")
            continue;
        if (!binary.has_symbols)
            return out.skip(Rule::per_cpu, binary.name,
                            "there are no symbols to compare per-CPU variables with");
        if (!binary.has_percpu)
            return out.add(Rule::per_cpu, binary.name,
                           {binary.btf_where, "BTF has per-CPU variables, but there is no section "
                                              ".data..percpu"});
        const auto *entries = reinterpret_cast<const btf_var_secinfo *>(btf::tail_of(t));
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            const std::string_view name = btf.name(TypeId{entries[i].type});
            if (std::string wrong = per_cpu_problem(binary, name, entries[i]); !wrong.empty())
                out.add(Rule::per_cpu, binary.name,
                        {binary.btf_where,
                         strf("per-CPU variable %s at offset %u: %s", std::string(name).c_str(),
                              entries[i].offset, wrong.c_str())});
        }
    }
}

constexpr size_t most_listed_names = 5; // in one line
// Types that count as taken by helpers.
constexpr std::string_view well_known[] = {"task_struct", "sock",   "sk_buff",   "file",
                                           "inode",       "cgroup", "net_device"};

bool is_well_known(const std::string &name)
{
    return std::ranges::find(well_known, name) != std::end(well_known);
}

/// Do kfuncs of vmlinux or helpers take the type? `base`: its id in vmlinux.
bool is_passed(const CheckContext &context, const std::string &name, TypeId base)
{
    return context.passed_types.contains(raw(base)) || is_well_known(name);
}

/// Moves the names of well-known types to the front of `names`; returns the first few as text.
std::string list_of(std::vector<std::string> &names)
{
    std::stable_partition(names.begin(), names.end(), is_well_known);
    return joined(names, ", ", {}, most_listed_names) +
           (names.size() > most_listed_names ? ", ..." : "");
}

/// Reports types that differ only in a type to which they refer: one finding for each type that
/// makes others differ. The encoder is not at fault (except perhaps for types that are only
/// declared): the sources of vmlinux and of the module differ in that one type.
void report_derived(const CheckContext &context, const Binary &module, const Btf &btf,
                    const std::vector<Redefinition> &redefined, Findings &out)
{
    struct DerivedTypes {
        std::vector<std::string> names;
        bool passed = false;   // kfuncs or helpers take one of these types
        bool declared = false; // as in Redefinition
    };
    std::map<std::pair<std::string, std::string>, DerivedTypes> groups; // by root and cause
    for (const Redefinition &r : redefined) {
        if (r.why != Redefinition::Why::derived)
            continue;
        DerivedTypes &group = groups[{r.root, r.cause}];
        group.names.emplace_back(btf.name(r.own));
        group.passed |= is_passed(context, group.names.back(), r.base);
        group.declared = r.declared;
    }
    for (auto &[root, group] : groups) {
        const std::string why = "because of " + root.first + " (" + root.second + ")";
        out.add(Rule::redefined, module.name,
                {module.btf_where, strf("defines %zu type%s of vmlinux again, ", group.names.size(),
                                        plural(group.names.size())) +
                                       why + ": " + list_of(group.names)},
                group.passed ? Degree::suspicious : Degree::harmless, root.first,
                group.declared ? "types of vmlinux are defined again because of a type that only "
                                 "the module or only vmlinux defines"
                               : "types of vmlinux are defined again " + why);
    }
}

void report_redefined(const CheckContext &context, const Binary &module, const Btf &btf,
                      const std::vector<Redefinition> &redefined, Findings &out)
{
    for (const Redefinition &r : redefined) {
        const std::string name = diff::type_name(btf, raw(r.own));
        if (r.why == Redefinition::Why::clash) {
            out.add(Rule::redefined, module.name,
                    {module.btf_where,
                     name + " differs from the type of that name in vmlinux (" + r.cause + ")"},
                    Degree::harmless, name, "types differ from those of that name in vmlinux");
        } else if (r.why == Redefinition::Why::copy) {
            const bool passed = is_passed(context, std::string(btf.name(r.own)), r.base);
            out.add(Rule::redefined, module.name,
                    {module.btf_where, "has a copy of vmlinux's " + name},
                    passed ? Degree::error : Degree::harmless, name,
                    passed ? "copies of vmlinux's types that kfuncs and helpers take: "
                             "programs cannot pass them on"
                           : "copies of vmlinux's types");
        }
    }
    report_derived(context, module, btf, redefined, out);
}

void report_absent(const CheckContext &context, const Binary &module, Findings &out)
{
    const bool asked = context.kernel.config_has("DEBUG_INFO_BTF_MODULES");
    if (module.has_btf)
        return out.add(Rule::empty, module.name, {module.btf_where, "is empty"},
                       asked ? Degree::error : Degree::suspicious);
    const Error error{Where{module.path}, "has no .BTF"};
    if (asked)
        out.add(Rule::no_btf, module.name,
                {error.where, error.what + " although CONFIG_DEBUG_INFO_BTF_MODULES=y"});
    else
        out.add(Rule::no_btf, module.name, error, Degree::harmless);
    if (context.kernel.config.empty())
        out.skip(Rule::no_btf, module.name,
                 "there is no configuration that says whether modules have BTF");
}

/// Adds findings for signs that the module's BTF was made over another vmlinux. Returns whether
/// there are none.
bool compare_base(const CheckContext &context, const Binary &module, Findings &out)
{
    auto size = btf_blob_size(module.btf, module.btf_where);
    if (!size || *size > module.btf.size())
        return true; // malformed, which other checks report
    auto found = compare_to_base(module.btf, module.btf_where, *context.vmlinux, "vmlinux");
    for (Error &error : found)
        out.add(Rule::base, module.name, std::move(error));
    return found.empty();
}

KfuncCounts check_module_kfuncs(const CheckContext &context, const Binary &module, const Btf &btf,
                                std::span<const Redefinition> redefined, Findings &out)
{
    // An ELF module without .BTF_ids has no kfuncs. For raw BTF, check_kfuncs() adds a line "not
    // checked".
    if (module.form != Binary::Form::raw_btf && module.btf_ids.empty())
        return {};
    return check_kfuncs(module, NameIndex(btf), context.names ? &*context.names : nullptr,
                        redefined, context.version, context.needs_tags, out);
}

/// Adds findings for violations of the kernel's rules, and for signs that the BTF was made over
/// another vmlinux. Returns whether there are none.
bool verify_module(const CheckContext &context, const Binary &module, const ModuleBtf &parsed,
                   Findings &out)
{
    bool good = true;
    if (parsed.distilled) {
        if (context.vmlinux)
            if (auto read =
                    check_distilled_base(context.version, *context.vmlinux, module.base_where);
                !read) {
                out.add(Rule::verifier, module.name, read.error());
                // A kernel that ignores .BTF.base takes .BTF for split BTF over vmlinux.
                return false;
            }
        good = verify_blob(context, module, module.base, *parsed.distilled, module.base_where, out);
    } else if (parsed.btf->base())
        good = compare_base(context, module, out);
    return verify_blob(context, module, module.btf, *parsed.btf, module.btf_where, out) && good;
}

KfuncCounts check_parsed(const CheckContext &context, const Binary &module, const ModuleBtf &parsed,
                         Findings &out)
{
    const Btf &btf = *parsed.btf;
    if (btf.size() == 0)
        out.add(Rule::empty, module.name,
                {module.btf_where, "has a header and no types: many readers refuse it"},
                Degree::suspicious);
    if (!verify_module(context, module, parsed, out)) {
        skip_rest_of_module(module, !parsed.distilled && btf.base(), out);
        return {};
    }
    check_enums(context, module, btf, out);
    check_per_cpu(module, btf, out);
    if (parsed.distilled) {
        if (context.vmlinux)
            for (Error &error : look_up_distilled(*parsed.distilled, btf, *context.names,
                                                  module.base_where, "vmlinux"))
                out.add(Rule::base, module.name, std::move(error));
        else
            out.skip(Rule::base, module.name, no_vmlinux);
        out.skip(Rule::redefined, module.name,
                 "a .BTF.base does not have all of vmlinux's types to compare with");
        return check_module_kfuncs(context, module, btf, {}, out);
    }
    if (!btf.base()) {
        out.skip(Rule::base, module.name, "self-contained BTF has no base");
        out.skip(Rule::redefined, module.name, "self-contained BTF has all types itself");
        return check_module_kfuncs(context, module, btf, {}, out);
    }
    const std::vector<Redefinition> redefined =
        find_redefinitions(parsed.btf, *context.side, *context.names);
    report_redefined(context, module, btf, redefined, out);
    return check_module_kfuncs(context, module, btf, redefined, out);
}

constexpr KernelVersion first_with_tags{6, 10};

/// The number at the start of a configuration value; 0 if there is none.
uint32_t number_of(std::string_view text)
{
    uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Reports a layout section: kernels do not need one, and older Go programs refuse BTF with one.
void note_layout(const Binary &vmlinux, Findings &out)
{
    const auto header_length = load<uint32_t>(vmlinux.btf.data() + 4, vmlinux.order);
    if (layout_place(vmlinux.btf, header_length, vmlinux.order).length == 0)
        return;
    out.add(Rule::layout, "vmlinux",
            {vmlinux.btf_where,
             "has a layout section: Go programs built with cilium/ebpf from before "
             "June 2026 cannot read this BTF (BTF_PAHOLE_NO_LAYOUT=1 leaves it out)"},
            Degree::harmless);
}

void note_without_tags(const CheckContext &context, const Binary &binary, size_t kfuncs,
                       Findings &out)
{
    out.add(Rule::kfunc_tag, "vmlinux",
            {binary.btf_where, strf("none of %zu kfuncs has the tag bpf_kfunc", kfuncs)},
            Degree::harmless);
    if (!context.kernel.version)
        out.skip(Rule::kfunc_tag, binary.name,
                 "the kernel's version is unknown, and with it whether kfuncs should be tagged");
    else if (*context.kernel.version >= first_with_tags && context.kernel.config.empty())
        out.skip(Rule::kfunc_tag, binary.name,
                 "there is no configuration that says whether kfuncs are tagged");
}

/// Must kfuncs be tagged? Yes if any kfunc of vmlinux is tagged. Otherwise yes for kernels from 7.2
/// on, where resolve_btfids writes the tags, and for kernels from 6.10 on that were built with
/// pahole 1.27 or newer, which Kbuild asks for tags.
bool expect_tags(const CheckContext &context)
{
    if (has_kfunc_tags(*context.names))
        return true;
    if (!context.kernel.version || *context.kernel.version < first_with_tags)
        return false;
    return *context.kernel.version >= KernelVersion{7, 2} ||
           number_of(context.kernel.config_value("PAHOLE_VERSION")) >= 127;
}

/// Checks a module over vmlinux.
KfuncCounts check_module(const CheckContext &context, const Binary &module, Findings &out)
{
    if (module.unreadable) {
        out.add(Rule::unreadable, module.name, *module.unreadable);
        return {};
    }
    if (!module.has_btf || module.btf.empty()) {
        report_absent(context, module, out);
        return {};
    }
    auto parsed = parse_module(module, context.vmlinux);
    const bool is_raw = module.form == Binary::Form::raw_btf,
               extends_vmlinux = module.base.empty() && (!is_raw || Btf::seems_split(module.btf));
    if (!parsed && extends_vmlinux && !context.vmlinux) {
        skip({Rule::verifier, Rule::base, Rule::ids, Rule::redefined, Rule::enum64, Rule::per_cpu},
             module, no_vmlinux, out);
        return {};
    }
    if (!parsed) {
        out.add(Rule::verifier, module.name, parsed.error());
        if (extends_vmlinux)
            compare_base(context, module, out);
        skip_rest_of_module(module, extends_vmlinux, out);
        return {};
    }
    return check_parsed(context, module, *parsed, out);
}

/// Checks vmlinux. If its BTF follows the kernel's rules, sets the fields of the context.
KfuncCounts check_vmlinux(CheckContext &context, Findings &out)
{
    if (!context.kernel.vmlinux) {
        out.add(Rule::no_btf, "vmlinux",
                {Where{context.kernel.package},
                 "there is no vmlinux, so split BTF without .BTF.base cannot be checked"});
        return {};
    }
    const Binary &binary = *context.kernel.vmlinux;
    if (!binary.has_btf) {
        out.add(Rule::no_btf, "vmlinux",
                {Where{binary.path}, context.kernel.config_has("DEBUG_INFO_BTF")
                                         ? "has no .BTF although CONFIG_DEBUG_INFO_BTF=y"
                                         : "has no .BTF"});
        return {};
    }
    auto btf = Btf::parse(binary.btf, binary.btf_where);
    const bool other_order = btf && btf->order() != binary.order;
    if (!btf)
        out.add(Rule::verifier, "vmlinux", btf.error());
    else if (other_order)
        out.add(Rule::verifier, "vmlinux",
                {binary.btf_where, "has another byte order than the file"});
    if (!btf || other_order ||
        !verify_blob(context, binary, binary.btf, *btf, binary.btf_where, out)) {
        skip({Rule::ids, Rule::enum64, Rule::per_cpu, Rule::layout}, binary, no_vmlinux, out);
        return {};
    }
    context.vmlinux = std::make_shared<const Btf>(std::move(*btf));
    context.names.emplace(*context.vmlinux);
    if (!context.kernel.modules.empty())
        context.side.emplace(context.vmlinux, nullptr);
    note_layout(binary, out);
    check_enums(context, binary, *context.vmlinux, out);
    check_per_cpu(binary, *context.vmlinux, out);
    context.needs_tags = expect_tags(context);
    const NameIndex &names = *context.names;
    KfuncCounts counts =
        check_kfuncs(binary, names, &names, {}, context.version, context.needs_tags, out);
    context.passed_types = counts.passed_types;
    if (counts.kfuncs && !counts.tagged && !context.needs_tags)
        note_without_tags(context, binary, counts.kfuncs, out);
    return counts;
}

/// Reports files of other builds: images whose banners differ from kernel.banner and, if modules
/// have findings of rule `base`, the releases that these modules state. Another build can have the
/// same release: a rebuild, another flavour, a vendor's kernel.
void check_other_builds(const Kernel &kernel, Findings &out)
{
    std::set<std::string> over_another;
    for (const Finding &finding : out.list)
        if (finding.rule == Rule::base)
            over_another.insert(finding.binary);
    for (const Error &other : kernel.other_builds)
        out.add(Rule::base, "vmlinux",
                {other.where, other.what + ", another build than \"" + kernel.banner + "\""});
    std::map<std::string_view, size_t> releases; // number of modules in over_another
    for (const Binary &module : kernel.modules)
        if (!module.release.empty() && over_another.contains(module.name))
            ++releases[module.release];
    for (const auto &[release, count] : releases) {
        const std::string states =
            strf("%zu module%s whose BTF does not fit vmlinux state%s release ", count,
                 plural(count), count == 1 ? "s" : "") +
            std::string(release);
        // Without a banner, kernel.release may be that of a module.
        const std::string rest = kernel.banner.empty() ? "; vmlinux itself states none"
                                 : release == kernel.release
                                     ? ", as the kernel does: another build or flavour"
                                     : ", but the kernel's is " + kernel.release;
        out.add(Rule::base, "", {Where{kernel.package}, states + rest});
    }
}

} // namespace

void Findings::skip(Rule rule, const std::string &binary, const std::string &why)
{
    auto same = std::ranges::find_if(unchecked, [&](const SkippedCheck &other) {
        return other.rule == rule && other.why == why;
    });
    if (same == unchecked.end())
        same = unchecked.insert(unchecked.end(), {rule, why, {}});
    same->binaries.push_back(binary);
}

CheckReport check_kernel(const Kernel &kernel, std::optional<KernelVersion> version)
{
    CheckReport report;
    report.version = version ? version : kernel.version;
    report.modules = kernel.modules.size();
    CheckContext context{.kernel = kernel, .version = report.version};
    Findings &found = report.found;
    for (const Error &error : kernel.left_out)
        found.add(Rule::unreadable, "", error);
    KfuncCounts counts = check_vmlinux(context, found);
    for (const Binary &module : kernel.modules) {
        const KfuncCounts more = check_module(context, module, found);
        counts.kfuncs += more.kfuncs;
        counts.tagged += more.tagged;
        report.with_btf += !module.btf.empty();
    }
    check_other_builds(kernel, found);
    std::ranges::stable_sort(found.unchecked, {}, &SkippedCheck::rule);
    report.kfuncs = counts.kfuncs;
    report.tagged = counts.tagged;
    return report;
}

} // namespace btflink::kernel
