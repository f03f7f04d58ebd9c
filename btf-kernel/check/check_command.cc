// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel check: options, the order of steps, output, and the exit status.
#include "btf-kernel/commands.h"

#include "btf-kernel/check/check_kernel.h"
#include "btf-kernel/progress.h"
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/io/file_io.h"
#include "common/io/json_text.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace btflink::kernel
{

namespace
{

/// A line of the --known file: RULE BINARY [SUBJECT]. Findings that match the line are ignored. '#'
/// begins a comment.
struct KnownFinding {
    Rule rule;
    std::string binary, subject; // "*" matches everything; a missing subject becomes "*"
    Where where;
    bool matched = false; // by a finding
};

Result<Rule> parse_rule(std::string_view name)
{
    const auto *found = std::ranges::find(rule_names, name);
    if (found == std::end(rule_names))
        return fail({}, "'" + std::string(name) + "' is not a rule; rules are " +
                            joined(rule_names, ", "));
    return static_cast<Rule>(found - std::begin(rule_names));
}

bool matches(const std::string &pattern, const std::string &text)
{
    return pattern == "*" || pattern == text;
}

Result<void> read_line(const std::string &line, const Where &where, std::vector<KnownFinding> &out)
{
    std::istringstream words(line.substr(0, line.find('#')));
    std::string rule, binary, subject;
    if (!(words >> rule))
        return {};
    auto parsed = parse_rule(rule);
    if (!parsed)
        return fail(where, parsed.error().what);
    if (!(words >> binary))
        return fail(where, "expected RULE BINARY [SUBJECT]");
    std::getline(words >> std::ws, subject); // may contain blanks: "enum queue"
    subject.erase(subject.find_last_not_of(" \t\r") + 1);
    out.push_back({*parsed, binary, subject.empty() ? "*" : subject, where});
    return {};
}

/// Errors: the file cannot be read; a line is malformed, or its rule is unknown.
Result<std::vector<KnownFinding>> read_known(const std::string &path)
{
    const auto bytes = TRY(read_file(path));
    std::istringstream text{std::string(as_text(bytes))};
    std::vector<KnownFinding> out;
    size_t number = 0;
    for (std::string line; std::getline(text, line);)
        TRY(read_line(line, Where{path + ", line " + std::to_string(++number)}, out));
    return out;
}

/// Drops known findings from the list, and marks their lines as matched. Returns the number of
/// dropped findings.
size_t drop_known(std::vector<Finding> &findings, std::vector<KnownFinding> &known)
{
    return std::erase_if(findings, [&](const Finding &finding) {
        bool found = false;
        for (KnownFinding &k : known)
            if (k.rule == finding.rule && matches(k.binary, finding.binary) &&
                matches(k.subject, finding.subject))
                found = k.matched = true;
        return found;
    });
}

struct CheckCommandLine {
    bool help = false, quiet = false, verbose = false, json = false;
    unsigned threads = processors();
    std::optional<KernelVersion> version; // whose rules apply; std::nullopt: the package's
    std::string release;
    std::vector<Rule> ignored;
    std::string known_file;
    Degree fail_on = Degree::error;
    std::vector<std::string> against;
    std::vector<KnownFinding> known; // the lines of known_file
    size_t dropped = 0;              // number of findings that these lines match
};

Result<void> take_ignored(CheckCommandLine &line, std::string_view list)
{
    while (!list.empty()) {
        auto rule = parse_rule(take_part(list, ','));
        if (!rule)
            return fail({}, "--ignore: " + rule.error().what);
        line.ignored.push_back(*rule);
    }
    return {};
}

Result<void> take_fail_on(CheckCommandLine &line, std::string_view text)
{
    const auto *found = std::ranges::find(degree_names, text);
    if (found == std::end(degree_names))
        return fail({}, "--fail-on: '" + std::string(text) +
                            "' is not a degree; degrees are error, suspicious, harmless");
    line.fail_on = static_cast<Degree>(found - std::begin(degree_names));
    return {};
}

constexpr Option<CheckCommandLine> check_options[] = {
    {help_option, sets<&CheckCommandLine::help>},
    {{0, "kernel", "VERSION",
      "Apply the rules of this kernel (default: those of the package's version)"},
     sets<&CheckCommandLine::version>},
    {{0, "against", "PACKAGE", "Also compare with another build of the same kernel", repeats},
     sets<&CheckCommandLine::against>},
    {{0, "ignore", "LIST", "Ignore findings of these rules, for example redefined,kfunc-tag",
      repeats},
     take_ignored},
    {{0, "known", "FILE", "Ignore the findings in this file: lines RULE BINARY [SUBJECT]"},
     sets<&CheckCommandLine::known_file>},
    {{0, "fail-on", "DEGREE",
      "Exit with 1 for findings of this degree or worse: error (default), suspicious, harmless"},
     take_fail_on},
    {{0, "release", "NAME", "Choose this kernel if there are several"},
     sets<&CheckCommandLine::release>},
    {{0, "json", "", "Print findings, notes and counts as JSON"}, sets<&CheckCommandLine::json>},
    {{'j', "threads", "N", "Threads, 1 to 1024 (default: processors); does not change the result"},
     take_threads<&CheckCommandLine::threads>},
    {{'q', "quiet", "", "Print only findings: no counts, no progress"},
     sets<&CheckCommandLine::quiet>},
    {{'v', "verbose", "", "Print each finding below its cause, including harmless findings"},
     sets<&CheckCommandLine::verbose>},
};

template <typename Any>
void drop_ignored(std::vector<Any> &list, const std::vector<Rule> &ignored)
{
    std::erase_if(list, [&](const Any &about) {
        return std::ranges::find(ignored, about.rule) != ignored.end();
    });
}

/// Opens the kernel of `packages`, puts it into `kernel`, checks it, and compares it with that of
/// --against. Leaves out findings that --ignore and --known list, and counts the known ones in
/// line.dropped.
Result<CheckReport> check(const std::vector<std::string> &packages, CheckCommandLine &line,
                          std::optional<Kernel> &kernel)
{
    Progress progress(line.quiet);
    const OpenOptions open{line.release, line.threads, &progress};
    kernel = TRY(open_kernel(packages, open));
    CheckReport report = check_kernel(*kernel, line.version);
    if (!line.against.empty()) {
        const Kernel other = TRY(open_kernel(line.against, open));
        compare_builds(*kernel, other, report.found);
    }
    drop_ignored(report.found.list, line.ignored);
    drop_ignored(report.found.unchecked, line.ignored);
    drop_ignored(line.known, line.ignored); // these lines would count as unmatched
    line.dropped = drop_known(report.found.list, line.known);
    return report;
}

// Text output has a line for each cause (for harmless ones only with --verbose or
// --fail-on=harmless). If a cause has several findings, --verbose adds a line for each. JSON output
// has all findings.

constexpr size_t most_names = 3; // in one list of some_of()

/// Findings of one cause, so that a problem of a hundred modules is one line.
struct Cause {
    std::vector<const Finding *> findings = {}; // in the order of the report
    std::vector<std::string> files = {};        // "vmlinux", modules, paths; without duplicates
    std::vector<std::string> subjects = {};     // without duplicates, the most frequent first

    const Finding &first() const { return *findings[0]; }
};

/// "a, b, c and 5 more"; with `what`: "a, b, c and 5 more modules".
std::string some_of(const std::vector<std::string> &names, std::string_view what = {})
{
    std::string text = joined(names, ", ", plain_text, most_names);
    if (names.size() <= most_names)
        return text;
    const size_t more = names.size() - most_names;
    text += strf(" and %zu more", more);
    return what.empty() ? text : text + " " + std::string(what) + plural(more);
}

/// Appends `name` to `list` unless it is empty or in `seen`. `seen` gets a view of `name`, which
/// must outlive `seen`.
void add_once(std::vector<std::string> &list, std::set<std::string_view> &seen,
              const std::string &name)
{
    if (!name.empty() && seen.insert(name).second)
        list.push_back(name);
}

void sort_subjects(Cause &cause)
{
    std::map<std::string_view, size_t> counts;
    for (const Finding *finding : cause.findings)
        ++counts[finding->subject];
    std::ranges::stable_sort(cause.subjects, [&](const std::string &a, const std::string &b) {
        return counts[a] > counts[b];
    });
}

/// Causes are sorted by degree, then by the places of their first findings in `findings`, which
/// must outlive the result.
std::vector<Cause> group_by_cause(const std::vector<Finding> &findings)
{
    std::vector<Cause> out;
    struct Seen {
        std::set<std::string_view> files = {}, subjects = {};
    };
    std::vector<Seen> seen; // for each cause
    std::map<std::tuple<Rule, Degree, std::string_view>, size_t> places;
    for (const Finding &finding : findings) {
        auto [at, added] =
            places.try_emplace({finding.rule, finding.degree, finding.cause_text()}, out.size());
        if (added) {
            out.emplace_back();
            seen.emplace_back();
        }
        Cause &cause = out[at->second];
        cause.findings.push_back(&finding);
        add_once(cause.files, seen[at->second].files,
                 finding.binary.empty() ? finding.error.where.file : finding.binary);
        add_once(cause.subjects, seen[at->second].subjects, finding.subject);
    }
    for (Cause &cause : out)
        sort_subjects(cause);
    std::ranges::stable_sort(out, {}, [](const Cause &cause) { return cause.first().degree; });
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
    const Finding &first = cause.first();
    std::string text = std::string(degree_name(first.degree)) + ": ";
    if (cause.findings.size() == 1)
        return text + line_of(first);
    text += std::string(rule_name(first.rule)) + ": " + plain_text(first.cause_text());
    if (!cause.subjects.empty())
        text += ": " + some_of(cause.subjects);
    if (!cause.files.empty())
        text += ", in " + some_of(cause.files, first.binary.empty() ? "file" : "module");
    return text;
}

std::string version_text(const std::optional<KernelVersion> &version)
{
    return version ? strf("%u.%u", version->major, version->minor) : "";
}

/// "vmlinux, 36 modules".
std::string names_of(const SkippedCheck &skipped)
{
    const bool vmlinux = skipped.binaries.front() == "vmlinux";
    const size_t modules = skipped.binaries.size() - vmlinux;
    if (modules == 0)
        return "vmlinux";
    return (vmlinux ? "vmlinux, " : "") +
           (modules > 1 ? strf("%zu modules", modules) : plain_text(skipped.binaries.back()));
}

size_t count(const Findings &found, Degree degree)
{
    return static_cast<size_t>(std::ranges::count(found.list, degree, &Finding::degree));
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

std::string unchecked_json(const SkippedCheck &skipped)
{
    return JsonObject()
        .text("rule", rule_name(skipped.rule))
        .field("binaries", json_array(skipped.binaries, json_string))
        .text("why", skipped.why)
        .result();
}

std::string known_json(const KnownFinding &known)
{
    return JsonObject()
        .text("rule", rule_name(known.rule))
        .text("binary", known.binary)
        .text("subject", known.subject)
        .text("place", known.where.file)
        .result();
}

void print_text(const Kernel &kernel, const CheckReport &report, const CheckCommandLine &line)
{
    for (const Cause &cause : group_by_cause(report.found.list)) {
        if (cause.first().degree == Degree::harmless && !line.verbose &&
            line.fail_on != Degree::harmless)
            continue;
        std::printf("%s\n", line_of(cause).c_str());
        if (line.verbose && cause.findings.size() > 1)
            for (const Finding *finding : cause.findings)
                std::printf("    %s\n", line_of(*finding).c_str());
    }
    if (line.quiet)
        return;
    for (const KnownFinding &known : line.known)
        if (!known.matched)
            std::printf("known: %s\n", Error{known.where, "matches no finding"}.str().c_str());
    for (const SkippedCheck &skipped : report.found.unchecked)
        std::printf("not checked: %s: %s: %s\n", rule_name(skipped.rule), names_of(skipped).c_str(),
                    skipped.why.c_str());
    const std::string version = version_text(report.version);
    const size_t errors = count(report.found, Degree::error);
    std::printf("%s, by the rules of %s: %zu of %zu modules have BTF, %zu kfuncs, %zu of them with "
                "their tag: %zu error%s, %zu suspicious, %zu harmless",
                kernel.release.empty() ? "kernel" : plain_text(kernel.release).c_str(),
                version.empty() ? "the newest kernel" : version.c_str(), report.with_btf,
                report.modules, report.kfuncs, report.tagged, errors, plural(errors),
                count(report.found, Degree::suspicious), count(report.found, Degree::harmless));
    if (line.dropped)
        std::printf(", %zu known", line.dropped);
    std::printf("\n");
}

void print_json(const Kernel &kernel, const CheckReport &report, const CheckCommandLine &line)
{
    std::printf("{\n  \"package\": %s,\n  \"release\": %s,\n  \"rules_of\": %s,\n",
                json_string(kernel.package).c_str(), json_string(kernel.release).c_str(),
                json_string(version_text(report.version)).c_str());
    std::printf("  \"modules\": %zu,\n  \"modules_with_btf\": %zu,\n  \"kfuncs\": %zu,\n"
                "  \"kfuncs_tagged\": %zu,\n  \"known\": %zu,\n",
                report.modules, report.with_btf, report.kfuncs, report.tagged, line.dropped);
    std::vector<Finding> findings, notes;
    for (const Finding &finding : report.found.list)
        (finding.degree == Degree::harmless ? notes : findings).push_back(finding);
    std::vector<KnownFinding> unmatched = line.known;
    std::erase_if(unmatched, [](const KnownFinding &known) { return known.matched; });
    auto lines = [](const auto &list, auto write) { return json_lines(list, write, "    "); };
    std::printf("  \"findings\": %s,\n  \"notes\": %s,\n  \"unchecked\": %s,\n"
                "  \"unmatched\": %s\n}\n",
                lines(findings, finding_json).c_str(), lines(notes, finding_json).c_str(),
                lines(report.found.unchecked, unchecked_json).c_str(),
                lines(unmatched, known_json).c_str());
}

} // namespace

int check_command(int argc, char **argv)
{
    CheckCommandLine line;
    auto given = read_options(check_options, argc, argv, line);
    if (!given)
        return usage_error(given.error(), "check");
    if (line.help)
        return answer("Report what is wrong with the BTF of a kernel and its modules.\n"
                      "Usage: btf-kernel check [OPTIONS] PACKAGE...\n\n"
                      "PACKAGE: folders, builds, .deb, .rpm, .apk, .ipk, tar archives, "
                      "vmlinux, vmlinuz,\nmodules, raw BTF; all packages belong to one kernel\n\n" +
                      options_text(check_options));
    if (given->operands.empty())
        return usage_error({{}, "PACKAGE is required"}, "check");
    if (!line.known_file.empty()) {
        auto lines = read_known(line.known_file);
        if (!lines)
            return usage_error(lines.error(), "check");
        line.known = std::move(*lines);
    }
    std::optional<Kernel> kernel;
    auto report = check(given->operands, line, kernel);
    if (!report)
        return input_error(report.error());
    const std::vector<Finding> &list = report->found.list;
    const bool good = std::ranges::none_of(
        list, [&](const Finding &finding) { return finding.degree <= line.fail_on; });
    if (line.json)
        print_json(*kernel, *report, line);
    else
        print_text(*kernel, *report, line);
    return end_output(good ? exit_good : exit_bad_input);
}

} // namespace btflink::kernel
