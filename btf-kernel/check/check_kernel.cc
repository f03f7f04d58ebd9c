// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks vmlinux, then all modules over it, several at a time. Later checks rely on earlier ones:
// if BTF violates the kernel's rules, its types are not followed.
#include "btf-kernel/check/check_kernel.h"

#include "btf-kernel/check/kfuncs.h"
#include "btf-kernel/check/layout.h"
#include "btf-kernel/check/other_builds.h"
#include "btf-kernel/check/per_cpu.h"
#include "btf-kernel/check/redefinitions.h"
#include "common/btf/base_match.h"
#include "common/btf/btf_check.h"
#include "common/cli/program.h"
#include "common/io/parallel.h"
#include "merge/input/final_btf.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_violations = 20;  // of one blob
constexpr size_t most_listed_names = 5; // in one line
constexpr KernelVersion first_with_tags{6, 10};
// Helpers take these.
constexpr std::string_view well_known[] = {"task_struct", "sock",   "sk_buff",   "file",
                                           "inode",       "cgroup", "net_device"};

struct ModuleReport {
    Findings findings;
    KfuncCounts counts;
};

/// A number of a configuration; 0: none.
uint32_t number_of(std::string_view text)
{
    uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

class KernelCheck
{
public:
    KernelCheck(const Kernel &kernel, const CheckOptions &options)
        : kernel_(kernel), options_(options),
          version_(options.version ? options.version : kernel.version)
    {
    }

    CheckReport run()
    {
        report_.version = version_;
        report_.modules = kernel_.modules.size();
        Findings findings;
        for (const Error &error : kernel_.left_out)
            findings.add(Rule::unreadable, "", error);
        KfuncCounts counts = check_vmlinux(findings);
        std::vector<ModuleReport> modules(kernel_.modules.size());
        std::atomic<size_t> done = 0;
        parallel_for(modules.size(), options_.threads, [&](size_t i) {
            modules[i] = check_module(kernel_.modules[i]);
            if (options_.progress)
                options_.progress(++done);
        });
        move_to_report(findings);
        for (size_t i = 0; i < modules.size(); ++i) {
            move_to_report(modules[i].findings);
            counts.kfuncs += modules[i].counts.kfuncs;
            counts.tagged += modules[i].counts.tagged;
            report_.with_btf += !kernel_.modules[i].btf.empty();
        }
        Findings mixed;
        check_other_builds(kernel_, report_.findings, mixed);
        move_to_report(mixed);
        std::stable_sort(report_.unchecked.begin(), report_.unchecked.end(),
                         [](const Unchecked &a, const Unchecked &b) { return a.rule < b.rule; });
        report_.kfuncs = counts.kfuncs;
        report_.tagged = counts.tagged;
        return std::move(report_);
    }

private:
    void move_to_report(Findings &from)
    {
        std::move(from.list.begin(), from.list.end(), std::back_inserter(report_.findings));
        std::move(from.notes.begin(), from.notes.end(), std::back_inserter(report_.notes));
        for (const Finding &skipped : from.unchecked) {
            auto &list = report_.unchecked;
            auto same = std::find_if(list.begin(), list.end(), [&](const Unchecked &other) {
                return other.rule == skipped.rule && other.why == skipped.error.what;
            });
            if (same == list.end())
                same = list.insert(list.end(), {skipped.rule, skipped.error.what, false, {}});
            if (skipped.binary == "vmlinux")
                same->vmlinux = true;
            else
                same->modules.push_back(skipped.binary);
        }
    }

    // vmlinux.

    KfuncCounts check_vmlinux(Findings &out)
    {
        if (!kernel_.vmlinux) {
            out.add(Rule::no_btf, "vmlinux",
                    {Where{kernel_.package}, "there is no vmlinux, so modules cannot be checked"});
            return {};
        }
        const Binary &binary = *kernel_.vmlinux;
        if (!binary.has_btf) {
            out.add(Rule::no_btf, "vmlinux",
                    {Where{binary.path}, kernel_.config_has("DEBUG_INFO_BTF")
                                             ? "has no .BTF, and CONFIG_DEBUG_INFO_BTF=y"
                                             : "has no .BTF"});
            return {};
        }
        auto btf = Btf::parse(binary.btf, binary.btf_where);
        if (!btf) {
            out.add(Rule::verifier, "vmlinux", btf.error());
            return {};
        }
        auto kept = std::make_shared<const Btf>(std::move(*btf));
        if (!verify(binary, binary.btf, *kept, binary.btf_where, out))
            return {};
        vmlinux_ = kept;
        names_.emplace(*vmlinux_);
        note_layout(binary, out);
        check_enums(binary, *vmlinux_, out);
        check_per_cpu(binary, *vmlinux_, out);
        tags_ = expect_tags();
        KfuncCounts counts = check_kfuncs(binary, *names_, nullptr, {}, version_, tags_, out);
        taken_ = counts.taken;
        if (counts.kfuncs && !counts.tagged && tags_ == Tags::no)
            say_without_tags(binary, counts.kfuncs, out);
        return counts;
    }

    void say_without_tags(const Binary &binary, size_t kfuncs, Findings &out) const
    {
        out.note(Rule::kfunc_tag, "vmlinux",
                 {binary.btf_where, strf("none of %zu kfuncs has the tag bpf_kfunc", kfuncs)});
        if (!kernel_.version)
            out.skip(Rule::kfunc_tag, binary,
                     "which kernel it is is not known, so neither whether kfuncs have tags");
        else if (*kernel_.version >= first_with_tags && kernel_.config.empty())
            out.skip(Rule::kfunc_tag, binary,
                     "there is no configuration that says whether kfuncs have tags");
    }

    /// Kbuild asks pahole for tags from 6.10 on, which 1.27 and newer make; from 7.2 on
    /// resolve_btfids makes them.
    Tags expect_tags() const
    {
        if (has_kfunc_tags(*names_))
            return Tags::yes;
        if (!kernel_.version || *kernel_.version < first_with_tags)
            return Tags::no;
        return *kernel_.version >= KernelVersion{7, 2} ||
                       number_of(kernel_.config_value("PAHOLE_VERSION")) >= 127
                   ? Tags::yes
                   : Tags::no;
    }

    /// Encoders without ENUM64 write the low halves of values of 64 bits. Kernels read ENUM64 from
    /// 6.0 on.
    void check_enums(const Binary &binary, const Btf &btf, Findings &out) const
    {
        const Degree degree = !version_                          ? Degree::suspicious
                              : *version_ >= KernelVersion{6, 0} ? Degree::error
                                                                 : Degree::harmless;
        for (TypeId id = btf.first_id(); id < btf.end_id(); id = TypeId{raw(id) + 1}) {
            const btf_type &t = btf.type(id);
            if (btf::kind_of(t) != btf::Kind::ENUM || t.size != 8 || !btf::vlen_of(t))
                continue;
            const std::string name = t.name_off
                                         ? "enum " + std::string(btf.name(id))
                                         : "enum with " + std::string(btf.str(btf::tail_of(t)[0]));
            out.add({Rule::enum64,
                     binary.name,
                     {binary.btf_where, name + " has 8 bytes and is no ENUM64: its values are "
                                               "cut to 32 bits"},
                     "values of enums with 8 bytes are cut to 32 bits: made without ENUM64",
                     name,
                     degree});
        }
    }

    /// The kernel's rules. True: none is violated.
    bool verify(const Binary &binary, Bytes blob, const Btf &btf, const Where &where,
                Findings &out) const
    {
        const uint32_t address_size =
            binary.address_size ? binary.address_size
                                : merge::guess_address_size(btf.base() ? *btf.base() : btf);
        auto found = find_violations(blob, btf, where, address_size, most_violations + 1, version_);
        const bool more = found.size() > most_violations;
        if (more)
            found.back() = {where, strf("and more than these %zu", most_violations)};
        for (Error &error : found)
            out.add(Rule::verifier, binary.name, std::move(error));
        return found.empty();
    }

    // A module.

    ModuleReport check_module(const Binary &module) const
    {
        ModuleReport report;
        Findings &out = report.findings;
        if (module.unreadable) {
            out.add(Rule::unreadable, module.name, *module.unreadable);
            return report;
        }
        if (!module.has_btf || module.btf.empty()) {
            check_absent(module, out);
            return report;
        }
        if (module.base.empty() && !vmlinux_)
            return report; // that was said
        auto parsed = parse_module(module, vmlinux_);
        if (!parsed) {
            out.add(Rule::verifier, module.name, parsed.error());
            if (module.base.empty())
                compare_base(module, out);
            return report;
        }
        check_parsed(module, *parsed, report);
        return report;
    }

    void check_absent(const Binary &module, Findings &out) const
    {
        if (module.has_btf)
            return out.add(Rule::empty, module.name, {module.btf_where, "is empty"});
        const Error error{Where{module.path}, "has no .BTF"};
        if (kernel_.config_has("DEBUG_INFO_BTF_MODULES"))
            out.add(Rule::no_btf, module.name,
                    {error.where, error.what + ", and CONFIG_DEBUG_INFO_BTF_MODULES=y"});
        else
            out.note(Rule::no_btf, module.name, error);
        if (kernel_.config.empty())
            out.skip(Rule::no_btf, module,
                     "there is no configuration that says whether modules have BTF");
    }

    /// Was it made over this vmlinux? True: nothing says otherwise.
    bool compare_base(const Binary &module, Findings &out) const
    {
        auto size = btf_blob_size(module.btf, module.btf_where);
        const bool same_order =
            module.btf.size() > 1 && kernel_.vmlinux->btf.size() > 1 &&
            std::equal(module.btf.begin(), module.btf.begin() + 2, kernel_.vmlinux->btf.begin());
        if (!size || *size > module.btf.size() || !same_order)
            return true; // other errors are said
        auto found = compare_to_base(module.btf, module.btf_where, *vmlinux_, "vmlinux");
        for (Error &error : found)
            out.add(Rule::base, module.name, std::move(error));
        return found.empty();
    }

    void check_parsed(const Binary &module, const ModuleBtf &parsed, ModuleReport &report) const
    {
        Findings &out = report.findings;
        const Btf &btf = *parsed.btf;
        if (btf.size() == 0)
            out.add(
                {.rule = Rule::empty,
                 .binary = module.name,
                 .error = {module.btf_where, "has a header and no types: many readers refuse it"},
                 .degree = Degree::suspicious});
        bool good = true;
        if (parsed.distilled)
            good = verify(module, module.base, *parsed.distilled, module.base_where, out);
        else if (btf.base())
            good = compare_base(module, out);
        good = verify(module, module.btf, btf, module.btf_where, out) && good;
        if (!good)
            return;
        check_enums(module, btf, out);
        check_per_cpu(module, btf, out);
        if (parsed.distilled) {
            if (vmlinux_)
                for (Error &error : look_up_distilled(*parsed.distilled, btf, *names_,
                                                      module.base_where, "vmlinux"))
                    out.add(Rule::base, module.name, std::move(error));
            out.skip(Rule::redefined, module,
                     "a .BTF.base does not have all of vmlinux's types to compare with");
            return check_module_kfuncs(module, btf, {}, report);
        }
        if (!btf.base()) {
            out.skip(Rule::base, module, "self-contained BTF has no base");
            out.skip(Rule::redefined, module, "self-contained BTF has all types itself");
            return check_module_kfuncs(module, btf, {}, report);
        }
        const std::vector<Redefinition> redefined = find_redefinitions(btf, *names_);
        say_redefined(module, btf, redefined, out);
        check_module_kfuncs(module, btf, redefined, report);
    }

    void check_module_kfuncs(const Binary &module, const Btf &btf,
                             std::span<const Redefinition> redefined, ModuleReport &report) const
    {
        if (module.form == Binary::Form::raw_btf || !module.btf_ids.empty())
            report.counts = check_kfuncs(module, NameIndex(btf), names_ ? &*names_ : nullptr,
                                         redefined, version_, tags_, report.findings);
    }

    /// A copy is the encoder's fault. It matters if kfuncs or helpers take the type: a program
    /// cannot pass on what the module's functions give it.
    void say_redefined(const Binary &module, const Btf &btf,
                       const std::vector<Redefinition> &redefined, Findings &out) const
    {
        for (const Redefinition &r : redefined) {
            const std::string name(btf.name(r.own));
            if (r.why == Redefinition::Why::clash) {
                out.add({Rule::redefined,
                         module.name,
                         {module.btf_where, name + " is not vmlinux's of that name: " + r.cause},
                         "types are not vmlinux's of that name",
                         name,
                         Degree::harmless});
            } else if (r.why == Redefinition::Why::copy) {
                const bool passed = is_passed(name, r.base);
                out.add({Rule::redefined,
                         module.name,
                         {module.btf_where, "has a copy of vmlinux's " + name},
                         passed ? "copies of vmlinux's types that kfuncs and helpers take: "
                                  "programs cannot pass them on"
                                : "copies of vmlinux's types",
                         name,
                         passed ? Degree::error : Degree::harmless});
            }
        }
        say_derived(module, btf, redefined, out);
    }

    /// Types that differ because of one that they refer to: a line for each of those. Two structs
    /// of the sources have one name then, and no encoder is to blame.
    void say_derived(const Binary &module, const Btf &btf,
                     const std::vector<Redefinition> &redefined, Findings &out) const
    {
        struct Derived {
            std::vector<std::string> names;
            bool passed = false, declared = false;
        };
        std::map<std::pair<std::string, std::string>, Derived> groups; // by root and cause
        for (const Redefinition &r : redefined) {
            if (r.why != Redefinition::Why::derived)
                continue;
            Derived &group = groups[{r.root, r.cause}];
            group.names.emplace_back(btf.name(r.own));
            group.passed |= is_passed(group.names.back(), r.base);
            group.declared = r.declared;
        }
        for (auto &[root, group] : groups) {
            const std::string why = "because of " + root.first + " (" + root.second + ")";
            out.add({Rule::redefined,
                     module.name,
                     {module.btf_where, strf("has %zu type%s of its own that vmlinux has, ",
                                             group.names.size(), plural(group.names.size())) +
                                            why + ": " + list_of(group.names)},
                     group.declared ? "types are not vmlinux's because of one that only one of "
                                      "them defines"
                                    : "types are not vmlinux's " + why,
                     root.first,
                     group.passed ? Degree::suspicious : Degree::harmless});
        }
    }

    /// Do kfuncs or helpers take it?
    bool is_passed(const std::string &name, TypeId base) const
    {
        return taken_.contains(raw(base)) || std::find(std::begin(well_known), std::end(well_known),
                                                       name) != std::end(well_known);
    }

    /// What most people know comes first.
    static std::string list_of(std::vector<std::string> &names)
    {
        std::stable_partition(names.begin(), names.end(), [&](const std::string &name) {
            return std::find(std::begin(well_known), std::end(well_known), name) !=
                   std::end(well_known);
        });
        std::string list;
        for (size_t i = 0; i < names.size() && i < most_listed_names; ++i)
            list += (i ? ", " : "") + names[i];
        return list + (names.size() > most_listed_names ? ", ..." : "");
    }

    const Kernel &kernel_;
    const CheckOptions &options_;
    const std::optional<KernelVersion> version_;
    CheckReport report_;
    std::shared_ptr<const Btf> vmlinux_; // null: there is none that can be relied upon
    std::optional<NameIndex> names_;     // of it
    Tags tags_ = Tags::no;
    std::set<uint32_t> taken_; // types that vmlinux's kfuncs take
};

} // namespace

CheckReport check_kernel(const Kernel &kernel, const CheckOptions &options)
{
    return KernelCheck(kernel, options).run();
}

} // namespace btflink::kernel
