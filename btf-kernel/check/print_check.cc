// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Text has a line per cause; JSON has each finding.
#include "btf-kernel/check/check_kernel.h"

#include "common/cli/program.h"
#include "common/io/json_text.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_names = 3; // in one line

/// Findings of one cause, so that a problem of a hundred modules is one line.
struct Cause {
    Rule rule;
    Degree degree;
    std::string text;
    std::vector<const Finding *> findings; // in the given order
    std::vector<std::string> binaries;     // without duplicates
    std::vector<std::string> subjects;     // without duplicates, the most frequent first
};

/// "a, b, c and 5 more"; `what` is appended: "a, b, c and 5 more modules".
std::string some_of(const std::vector<std::string> &names, const char *what)
{
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), most_names); ++i)
        text += (i ? ", " : "") + plain_text(names[i]);
    if (names.size() > most_names)
        text += strf(" and %zu more%s", names.size() - most_names, what);
    return text;
}

void add_once(std::vector<std::string> &list, const std::string &name)
{
    if (!name.empty() && (list.empty() || list.back() != name) &&
        std::find(list.begin(), list.end(), name) == list.end())
        list.push_back(name);
}

void sort_subjects(Cause &cause)
{
    std::map<std::string_view, size_t> counts;
    for (const Finding *finding : cause.findings)
        ++counts[finding->subject];
    std::stable_sort(
        cause.subjects.begin(), cause.subjects.end(),
        [&](const std::string &a, const std::string &b) { return counts[a] > counts[b]; });
}

/// Sorted by degree, then by their first findings. `findings` must outlive the result.
std::vector<Cause> group_by_cause(const std::vector<Finding> &findings)
{
    std::vector<Cause> out;
    std::map<std::tuple<Rule, Degree, std::string_view>, size_t> places;
    for (const Finding &finding : findings) {
        auto [at, added] =
            places.try_emplace({finding.rule, finding.degree, finding.cause_text()}, out.size());
        if (added)
            out.push_back({finding.rule, finding.degree, finding.cause_text(), {}, {}, {}});
        Cause &cause = out[at->second];
        cause.findings.push_back(&finding);
        add_once(cause.binaries, finding.binary);
        add_once(cause.subjects, finding.subject);
    }
    for (Cause &cause : out)
        sort_subjects(cause);
    std::stable_sort(out.begin(), out.end(),
                     [](const Cause &a, const Cause &b) { return a.degree < b.degree; });
    return out;
}

/// "RULE: BINARY: FILE: WHAT"
std::string line_of(const Finding &finding)
{
    return std::string(rule_name(finding.rule)) + ": " +
           (finding.binary.empty() ? "" : plain_text(finding.binary) + ": ") + finding.error.str();
}

/// One line: for several findings the cause with a few names, for one finding its whole text.
std::string line_of(const Cause &cause)
{
    const std::string degree = std::string(degree_name(cause.degree)) + ": ";
    if (cause.findings.size() == 1)
        return degree + line_of(*cause.findings[0]);
    std::string text = degree + rule_name(cause.rule) + ": " + plain_text(cause.text);
    if (!cause.subjects.empty())
        text += ": " + some_of(cause.subjects, "");
    return text + ", in " + some_of(cause.binaries, " modules");
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

std::string finding_json(const Finding &f)
{
    JsonObject out;
    out.text("degree", degree_name(f.degree))
        .text("rule", rule_name(f.rule))
        .text("binary", f.binary)
        .text("subject", f.subject)
        .text("cause", f.cause_text())
        .text("file", f.error.where.file)
        .text("section", f.error.where.section);
    if (f.error.where.offset)
        out.number("offset", *f.error.where.offset);
    return out.text("what", f.error.what).result();
}

std::string unchecked_json(const Unchecked &skipped)
{
    std::vector<std::string> names = skipped.modules;
    if (skipped.vmlinux)
        names.insert(names.begin(), "vmlinux");
    return JsonObject()
        .text("rule", rule_name(skipped.rule))
        .field("binaries", json_array(names, json_string))
        .text("why", skipped.why)
        .result();
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
                "  \"kfuncs_tagged\": %zu,\n  \"known\": %zu,\n",
                report.modules, report.with_btf, report.kfuncs, report.tagged, options.known);
    auto lines = [](const auto &list, auto write) { return json_lines(list, write, "    "); };
    std::printf("  \"findings\": %s,\n  \"notes\": %s,\n  \"unchecked\": %s\n}\n",
                lines(report.findings, finding_json).c_str(),
                lines(report.notes, finding_json).c_str(),
                lines(report.unchecked, unchecked_json).c_str());
}

} // namespace btflink::kernel
