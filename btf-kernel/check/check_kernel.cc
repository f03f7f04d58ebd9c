// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks vmlinux, then all modules over it, several at a time.
#include "btf-kernel/check/check_kernel.h"

#include "btf-kernel/check/checks.h"
#include "common/io/parallel.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

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
