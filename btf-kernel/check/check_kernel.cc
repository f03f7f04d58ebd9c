// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks vmlinux, then all modules over it, several at a time.
#include "btf-kernel/check/check_kernel.h"

#include "btf-kernel/check/checks.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <map>
#include <set>

namespace btflink::kernel
{

namespace
{

/// Builds can share a release: a rebuild, another flavour, a vendor's kernel. Reports images whose
/// banner differs from that of vmlinux. If modules have a finding of rule `base` in `found`, also
/// reports the releases that these modules state.
void check_other_builds(const Kernel &kernel, const std::vector<Finding> &found, Findings &out)
{
    for (const Error &other : kernel.other_builds)
        out.add(Rule::base, "vmlinux",
                {other.where, other.what + ", another build than \"" + kernel.banner + "\""});
    std::set<std::string_view> over_another;
    for (const Finding &finding : found)
        if (finding.rule == Rule::base)
            over_another.insert(finding.binary);
    std::map<std::string_view, size_t> releases; // number of these modules by release
    for (const Binary &module : kernel.modules)
        if (!module.release.empty() && over_another.contains(module.name))
            ++releases[module.release];
    for (const auto &[release, count] : releases) {
        const std::string states =
            strf("%zu of these modules state%s release ", count, count == 1 ? "s" : "") +
            std::string(release);
        out.add(Rule::base, "",
                {Where{kernel.package},
                 release == kernel.release
                     ? states +
                           ", as vmlinux does: one is of another build of it, or of another flavour"
                     : states + ", vmlinux " + kernel.release});
    }
}

struct ModuleReport {
    Findings findings;
    KfuncCounts counts;
};

std::vector<ModuleReport> check_modules(const CheckContext &context, const CheckOptions &options)
{
    std::vector<ModuleReport> out(context.kernel.modules.size());
    std::atomic<size_t> done = 0;
    parallel_for(out.size(), options.threads, [&](size_t i) {
        out[i].counts = check_module(context, context.kernel.modules[i], out[i].findings);
        if (options.progress)
            options.progress(++done);
    });
    return out;
}

void move_to_report(Findings &from, CheckReport &report)
{
    std::move(from.list.begin(), from.list.end(), std::back_inserter(report.findings));
    std::move(from.notes.begin(), from.notes.end(), std::back_inserter(report.notes));
    for (const Finding &skipped : from.unchecked) {
        auto &list = report.unchecked;
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

} // namespace

CheckReport check_kernel(const Kernel &kernel, const CheckOptions &options)
{
    CheckReport report;
    report.version = options.version ? options.version : kernel.version;
    report.modules = kernel.modules.size();
    CheckContext context{.kernel = kernel, .version = report.version};
    Findings findings;
    for (const Error &error : kernel.left_out)
        findings.add(Rule::unreadable, "", error);
    KfuncCounts counts = check_vmlinux(context, findings);
    move_to_report(findings, report);
    std::vector<ModuleReport> modules = check_modules(context, options);
    for (size_t i = 0; i < modules.size(); ++i) {
        move_to_report(modules[i].findings, report);
        counts.kfuncs += modules[i].counts.kfuncs;
        counts.tagged += modules[i].counts.tagged;
        report.with_btf += !kernel.modules[i].btf.empty();
    }
    Findings mixed;
    check_other_builds(kernel, report.findings, mixed);
    move_to_report(mixed, report);
    std::stable_sort(report.unchecked.begin(), report.unchecked.end(),
                     [](const Unchecked &a, const Unchecked &b) { return a.rule < b.rule; });
    report.kfuncs = counts.kfuncs;
    report.tagged = counts.tagged;
    return report;
}

} // namespace btflink::kernel
