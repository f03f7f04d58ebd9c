// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Text has a line per cause; JSON has each finding.
#include "btf-kernel/check/print_check.h"

#include "btf-kernel/check/causes.h"
#include "common/cli/program.h"
#include "common/io/json_text.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

std::string version_text(const std::optional<KernelVersion> &version)
{
    return version ? strf("%u.%u", version->major, version->minor) : "";
}

/// "vmlinux, 36 modules".
std::string names_of(const Unchecked &skipped)
{
    std::string names = skipped.vmlinux ? "vmlinux" : "";
    if (!skipped.modules.empty())
        names += names.empty() ? "" : ", ";
    if (skipped.modules.size() == 1)
        names += plain_text(skipped.modules.front());
    else if (!skipped.modules.empty())
        names += strf("%zu modules", skipped.modules.size());
    return names;
}

size_t count(const CheckReport &report, Degree degree)
{
    auto is_of = [&](const Finding &finding) { return finding.degree == degree; };
    return static_cast<size_t>(
        std::count_if(report.findings.begin(), report.findings.end(), is_of) +
        std::count_if(report.notes.begin(), report.notes.end(), is_of));
}

void print_causes(const std::vector<Finding> &findings, bool each)
{
    for (const Cause &cause : group_by_cause(findings)) {
        std::printf("%s\n", line_of(cause).c_str());
        if (each && cause.findings.size() > 1)
            for (const Finding *finding : cause.findings)
                std::printf("    %s\n", line_of(*finding).c_str());
    }
}

void print_json(const std::vector<Finding> &list)
{
    for (size_t i = 0; i < list.size(); ++i) {
        const Finding &f = list[i];
        std::printf(
            "%s\n    {\"degree\": \"%s\", \"rule\": \"%s\", \"binary\": %s, \"subject\": %s, "
            "\"cause\": %s, \"file\": %s, \"section\": %s, ",
            i ? "," : "", degree_name(f.degree), rule_name(f.rule), json_string(f.binary).c_str(),
            json_string(f.subject).c_str(), json_string(f.cause_text()).c_str(),
            json_string(f.error.where.file).c_str(), json_string(f.error.where.section).c_str());
        if (f.error.where.offset)
            std::printf("\"offset\": %llu, ",
                        static_cast<unsigned long long>(*f.error.where.offset));
        std::printf("\"what\": %s}", json_string(f.error.what).c_str());
    }
}

void print_json(const std::vector<Unchecked> &list)
{
    for (size_t i = 0; i < list.size(); ++i) {
        std::string names = list[i].vmlinux ? "\"vmlinux\"" : "";
        for (const std::string &module : list[i].modules)
            names += (names.empty() ? "" : ", ") + json_string(module);
        std::printf("%s\n    {\"rule\": \"%s\", \"binaries\": [%s], \"why\": %s}", i ? "," : "",
                    rule_name(list[i].rule), names.c_str(), json_string(list[i].why).c_str());
    }
}

} // namespace

void print_text(const Kernel &kernel, const CheckReport &report, const PrintOptions &options)
{
    print_causes(report.findings, options.verbose);
    if (options.verbose || options.fail_on == Degree::harmless)
        print_causes(report.notes, options.verbose);
    if (options.quiet)
        return;
    for (const Error &line : options.unmet)
        std::printf("known: %s\n", line.str().c_str());
    for (const Unchecked &skipped : report.unchecked)
        std::printf("not checked: %s: %s: %s\n", rule_name(skipped.rule), names_of(skipped).c_str(),
                    skipped.why.c_str());
    const std::string version = version_text(report.version);
    const size_t errors = count(report, Degree::error);
    std::printf("%s, by the rules of %s: %zu of %zu modules have BTF, %zu kfuncs, %zu of them with "
                "their tag: %zu error%s, %zu suspicious, %zu harmless",
                kernel.release.empty() ? "kernel" : plain_text(kernel.release).c_str(),
                version.empty() ? "the newest kernel" : version.c_str(), report.with_btf,
                report.modules, report.kfuncs, report.tagged, errors, plural(errors),
                count(report, Degree::suspicious), count(report, Degree::harmless));
    if (options.known)
        std::printf(", %zu known", options.known);
    std::printf("\n");
}

void print_json(const Kernel &kernel, const CheckReport &report, const PrintOptions &options)
{
    std::printf("{\n  \"package\": %s,\n  \"release\": %s,\n  \"rules_of\": %s,\n",
                json_string(kernel.package).c_str(), json_string(kernel.release).c_str(),
                json_string(version_text(report.version)).c_str());
    std::printf("  \"modules\": %zu,\n  \"modules_with_btf\": %zu,\n  \"kfuncs\": %zu,\n"
                "  \"kfuncs_tagged\": %zu,\n  \"known\": %zu,\n  \"findings\": [",
                report.modules, report.with_btf, report.kfuncs, report.tagged, options.known);
    print_json(report.findings);
    std::printf("],\n  \"notes\": [");
    print_json(report.notes);
    std::printf("],\n  \"unchecked\": [");
    print_json(report.unchecked);
    std::printf("]\n}\n");
}

} // namespace btflink::kernel
