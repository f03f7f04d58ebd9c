// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the options of btf-kernel check, and prints what was found.
#include "btf-kernel/check/check_command.h"

#include "btf-kernel/check/check_kernel.h"
#include "btf-kernel/check/compare_builds.h"
#include "btf-kernel/command.h"
#include "btf-kernel/progress.h"
#include "common/cli/json_text.h"

#include <algorithm>
#include <thread>

namespace btflink::kernel
{

namespace
{

struct Draft {
    bool help = false, quiet = false, verbose = false, json = false;
    unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    OpenOptions open;
    CheckOptions check;
    std::vector<Rule> ignored;
    std::vector<std::string> against;
};

Result<void> take_kernel(Draft &draft, std::string_view text)
{
    auto version = TRY(read_kernel_option(text));
    draft.check.version = version;
    return {};
}

Result<void> take_ignored(Draft &draft, std::string_view list)
{
    while (!list.empty()) {
        const size_t end = std::min(list.find(','), list.size());
        auto rule = parse_rule(list.substr(0, end));
        if (!rule)
            return fail({}, "--ignore: " + rule.error().what);
        draft.ignored.push_back(*rule);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return {};
}

constexpr Option<Draft> options[] = {
    {.words = {.letter = 'h', .name = "help", .help = "Print this help and exit"},
     .flag = [](Draft &d) -> bool & { return d.help; }},
    {.words = {.name = "kernel",
               .value = "VERSION",
               .help = "Apply the rules of this kernel (default: those of the package's version)"},
     .take = take_kernel},
    {.words = {.name = "against",
               .value = "PACKAGE",
               .help = "Also compare with another build of the same kernel",
               .repeats = true},
     .take = [](Draft &d, std::string_view path) -> Result<void> {
         d.against.emplace_back(path);
         return {};
     }},
    {.words = {.name = "ignore",
               .value = "LIST",
               .help = "Rules whose findings do not count, such as redefined,kfunc-tag",
               .repeats = true},
     .take = take_ignored},
    {.words = {.name = "release",
               .value = "NAME",
               .help = "Choose this kernel if there are several"},
     .text = [](Draft &d) -> std::string & { return d.open.release; }},
    {.words = {.name = "json", .help = "Print findings, notes and counts as JSON"},
     .flag = [](Draft &d) -> bool & { return d.json; }},
    {.words = {.letter = 'j',
               .name = "threads",
               .value = "N",
               .help = "Threads, 1 to 1024 (default: processors); does not change the result"},
     .take = take_threads<&Draft::threads>},
    {.words = {.letter = 'q',
               .name = "quiet",
               .help = "Print only findings: no counts, no progress bar"},
     .flag = [](Draft &d) -> bool & { return d.quiet; }},
    {.words = {.letter = 'v', .name = "verbose", .help = "Print notes, too"},
     .flag = [](Draft &d) -> bool & { return d.verbose; }},
};

std::string line_of(const Finding &finding)
{
    return std::string(rule_name(finding.rule)) + ": " +
           (finding.binary.empty() ? "" : plain_text(finding.binary) + ": ") + finding.error.str();
}

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

void print_text(const Kernel &kernel, const CheckReport &report, const Draft &draft)
{
    for (const Finding &finding : report.findings)
        std::printf("%s\n", line_of(finding).c_str());
    if (draft.verbose)
        for (const Finding &note : report.notes)
            std::printf("note: %s\n", line_of(note).c_str());
    if (draft.quiet)
        return;
    for (const Unchecked &skipped : report.unchecked)
        std::printf("not checked: %s: %s: %s\n", rule_name(skipped.rule), names_of(skipped).c_str(),
                    skipped.why.c_str());
    const std::string version = version_text(report.version);
    std::printf("%s, by the rules of %s: %zu of %zu modules have BTF, %zu kfuncs, %zu of them with "
                "their tag: %zu finding%s, %zu note%s\n",
                kernel.release.empty() ? "kernel" : plain_text(kernel.release).c_str(),
                version.empty() ? "the newest kernel" : version.c_str(), report.with_btf,
                report.modules, report.kfuncs, report.tagged, report.findings.size(),
                plural(report.findings.size()), report.notes.size(), plural(report.notes.size()));
}

void print_json(const std::vector<Finding> &list)
{
    for (size_t i = 0; i < list.size(); ++i) {
        const Finding &f = list[i];
        std::printf("%s\n    {\"rule\": \"%s\", \"binary\": %s, \"file\": %s, \"section\": %s, ",
                    i ? "," : "", rule_name(f.rule), json_string(f.binary).c_str(),
                    json_string(f.error.where.file).c_str(),
                    json_string(f.error.where.section).c_str());
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

void print_json(const Kernel &kernel, const CheckReport &report)
{
    std::printf("{\n  \"package\": %s,\n  \"release\": %s,\n  \"rules_of\": %s,\n",
                json_string(kernel.package).c_str(), json_string(kernel.release).c_str(),
                json_string(version_text(report.version)).c_str());
    std::printf("  \"modules\": %zu,\n  \"modules_with_btf\": %zu,\n  \"kfuncs\": %zu,\n"
                "  \"kfuncs_tagged\": %zu,\n  \"findings\": [",
                report.modules, report.with_btf, report.kfuncs, report.tagged);
    print_json(report.findings);
    std::printf("],\n  \"notes\": [");
    print_json(report.notes);
    std::printf("],\n  \"unchecked\": [");
    print_json(report.unchecked);
    std::printf("]\n}\n");
}

template <typename Any>
void drop_ignored(std::vector<Any> &list, const std::vector<Rule> &ignored)
{
    std::erase_if(list, [&](const Any &about) {
        return std::find(ignored.begin(), ignored.end(), about.rule) != ignored.end();
    });
}

/// Nothing: that was said.
std::optional<CheckReport> check(const std::vector<std::string> &packages, Draft &draft,
                                 std::optional<Kernel> &kernel)
{
    ProgressBar bar("reading modules", draft.quiet);
    draft.open.progress = [&](size_t count) { bar.set(count); };
    auto opened = open_kernel(packages, draft.open);
    if (!opened) {
        print_error(opened.error());
        return std::nullopt;
    }
    kernel = std::move(*opened);
    bar.begin("checking modules");
    const size_t all = kernel->modules.size();
    draft.check.progress = [&](size_t count) { bar.set(count, all); };
    CheckReport report = check_kernel(*kernel, draft.check);
    if (!draft.against.empty()) {
        bar.begin("comparing with the other build");
        draft.open.progress = nullptr;
        auto other = open_kernel(draft.against, draft.open);
        if (!other) {
            print_error(other.error());
            return std::nullopt;
        }
        Findings findings;
        compare_builds(*kernel, *other, draft.check.threads, findings);
        std::move(findings.list.begin(), findings.list.end(), std::back_inserter(report.findings));
        std::move(findings.notes.begin(), findings.notes.end(), std::back_inserter(report.notes));
    }
    drop_ignored(report.findings, draft.ignored);
    drop_ignored(report.unchecked, draft.ignored);
    return report;
}

} // namespace

int check_command(int argc, char **argv)
{
    Draft draft;
    auto given = read_options(options, argc, argv, draft, [](const Draft &d) { return d.help; });
    if (!given)
        return usage_error("check", given.error());
    if (draft.help) {
        std::printf(
            "Say what is wrong with the BTF of a kernel and its modules.\n"
            "Usage: btf-kernel check [OPTIONS] PACKAGE...\n\n"
            "PACKAGE: folders, builds, .deb, .rpm, tar archives, vmlinux, vmlinuz, modules, "
            "raw BTF;\nall of one kernel\n\n%s",
            options_text(options).c_str());
        return end_output(exit_good);
    }
    if (given->operands.empty())
        return usage_error("check", {{}, "PACKAGE is required"});
    draft.open.threads = draft.check.threads = draft.threads;
    std::optional<Kernel> kernel;
    auto report = check(given->operands, draft, kernel);
    if (!report)
        return exit_findings;
    if (draft.json)
        print_json(*kernel, *report);
    else
        print_text(*kernel, *report, draft);
    return end_output(report->findings.empty() ? exit_good : exit_findings);
}

} // namespace btflink::kernel
