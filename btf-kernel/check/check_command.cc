// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// btf-kernel check: options, the order of steps, and the exit status.
#include "btf-kernel/commands.h"

#include "btf-kernel/check/check_kernel.h"
#include "btf-kernel/package/magic.h"
#include "btf-kernel/progress.h"
#include "common/cli/option_table.h"
#include "common/cli/program.h"
#include "common/io/file_io.h"

#include <algorithm>
#include <sstream>
#include <thread>

namespace btflink::kernel
{

namespace
{

/// A line of the file of --known, whose findings are ignored: RULE BINARY [SUBJECT]. '*' matches
/// everything, and '#' begins a comment. A line without a subject matches all subjects.
struct Known {
    Rule rule;
    std::string binary, subject; // or "*"
    Where where;
    bool met = false; // matches a finding
};

Result<Rule> parse_rule(std::string_view name)
{
    std::string all;
    for (size_t i = 0; i < std::size(rule_names); ++i) {
        if (name == rule_names[i])
            return static_cast<Rule>(i);
        all += (i ? ", " : "") + std::string(rule_names[i]);
    }
    return fail({}, "'" + std::string(name) + "' is not a rule; rules are " + all);
}

bool matches(const std::string &pattern, const std::string &text)
{
    return pattern == "*" || pattern == text;
}

Result<void> read_line(const std::string &line, const Where &where, std::vector<Known> &out)
{
    std::istringstream words(line.substr(0, line.find('#')));
    std::string rule, binary, subject;
    if (!(words >> rule))
        return {};
    auto parsed = parse_rule(rule);
    if (!parsed)
        return fail(where, parsed.error().what);
    if (!(words >> binary))
        return fail(where, "a line is RULE BINARY [SUBJECT]");
    std::getline(words >> std::ws, subject); // "enum queue"
    subject.erase(subject.find_last_not_of(" \t\r") + 1);
    out.push_back({*parsed, binary, subject.empty() ? "*" : subject, where});
    return {};
}

/// Error: a line is malformed, or its rule is unknown.
Result<std::vector<Known>> read_known(const std::string &path)
{
    const auto bytes = TRY(read_file(path));
    std::istringstream text{std::string(as_text(bytes))};
    std::vector<Known> out;
    size_t number = 0;
    for (std::string line; std::getline(text, line);)
        TRY(read_line(line, Where{path + ", line " + std::to_string(++number)}, out));
    return out;
}

/// Drop known findings from the list, and mark their lines as met. Returns the number of dropped
/// findings.
size_t drop_known(std::vector<Finding> &findings, std::vector<Known> &known)
{
    return std::erase_if(findings, [&](const Finding &finding) {
        bool found = false;
        for (Known &line : known)
            if (line.rule == finding.rule && matches(line.binary, finding.binary) &&
                matches(line.subject, finding.subject))
                found = line.met = true;
        return found;
    });
}

struct Draft {
    bool help = false, quiet = false, verbose = false, json = false;
    unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    OpenOptions open;
    CheckOptions check;
    std::vector<Rule> ignored;
    std::string known;
    Degree fail_on = Degree::error;
    std::vector<std::string> against;
};

Result<void> take_kernel(Draft &draft, std::string_view text)
{
    draft.check.version = TRY(read_kernel_option(text));
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

Result<void> take_fail_on(Draft &draft, std::string_view text)
{
    const auto *found = std::find(std::begin(degree_names), std::end(degree_names), text);
    if (found == std::end(degree_names))
        return fail({}, "--fail-on: '" + std::string(text) +
                            "' is not a degree; degrees are error, suspicious, harmless");
    draft.fail_on = static_cast<Degree>(found - std::begin(degree_names));
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
               .help = "Ignore findings of these rules, for example redefined,kfunc-tag",
               .repeats = true},
     .take = take_ignored},
    {.words = {.name = "known",
               .value = "FILE",
               .help = "Ignore the findings in this file: lines RULE BINARY [SUBJECT]"},
     .text = [](Draft &d) -> std::string & { return d.known; }},
    {.words = {.name = "fail-on",
               .value = "DEGREE",
               .help = "Exit with 1 for findings of this degree or worse: error (default), "
                       "suspicious, harmless"},
     .take = take_fail_on},
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
               .help = "Print only findings: no counts, no progress"},
     .flag = [](Draft &d) -> bool & { return d.quiet; }},
    {.words = {.letter = 'v',
               .name = "verbose",
               .help = "Print each finding, and harmless findings, too"},
     .flag = [](Draft &d) -> bool & { return d.verbose; }},
};

template <typename Any>
void drop_ignored(std::vector<Any> &list, const std::vector<Rule> &ignored)
{
    std::erase_if(list, [&](const Any &about) {
        return std::find(ignored.begin(), ignored.end(), about.rule) != ignored.end();
    });
}

/// Opens and checks the kernel.
Result<CheckReport> check(const std::vector<std::string> &packages, Draft &draft,
                          std::optional<Kernel> &kernel)
{
    Progress progress(draft.quiet);
    draft.open.progress = draft.check.progress = &progress;
    kernel = TRY(open_kernel(packages, draft.open));
    CheckReport report = check_kernel(*kernel, draft.check);
    if (!draft.against.empty()) {
        const Kernel other = TRY(open_kernel(draft.against, draft.open));
        Findings findings;
        compare_builds(*kernel, other, draft.check.threads, findings);
        std::move(findings.list.begin(), findings.list.end(), std::back_inserter(report.findings));
        std::move(findings.notes.begin(), findings.notes.end(), std::back_inserter(report.notes));
    }
    return report;
}

/// Drops findings listed by --ignore and --known.
void leave_out(CheckReport &report, const Draft &draft, std::vector<Known> &known,
               PrintOptions &print)
{
    drop_ignored(report.findings, draft.ignored);
    drop_ignored(report.unchecked, draft.ignored);
    print.known = drop_known(report.findings, known) + drop_known(report.notes, known);
    for (const Known &line : known)
        if (!line.met)
            print.unmet.push_back({line.where, "matches no finding"});
}

bool is_good(const CheckReport &report, Degree fail_on)
{
    auto counts = [&](const Finding &finding) { return finding.degree <= fail_on; };
    return std::none_of(report.findings.begin(), report.findings.end(), counts) &&
           std::none_of(report.notes.begin(), report.notes.end(), counts);
}

} // namespace

int check_command(int argc, char **argv)
{
    Draft draft;
    auto given = read_options(options, argc, argv, draft, [](const Draft &d) { return d.help; });
    if (!given)
        return usage_error(given.error(), "check");
    if (draft.help)
        return answer(
            "Report what is wrong with the BTF of a kernel and its modules.\n"
            "Usage: btf-kernel check [OPTIONS] PACKAGE...\n\n"
            "PACKAGE: folders, builds, .deb, .rpm, tar archives, vmlinux, vmlinuz, modules, "
            "raw BTF;\nall packages belong to one kernel\n\n" +
            options_text(options));
    if (given->operands.empty())
        return usage_error({{}, "PACKAGE is required"}, "check");
    draft.open.threads = draft.check.threads = draft.threads;
    std::vector<Known> known;
    if (!draft.known.empty()) {
        auto lines = read_known(draft.known);
        if (!lines)
            return usage_error(lines.error(), "check");
        known = std::move(*lines);
    }
    std::optional<Kernel> kernel;
    auto report = check(given->operands, draft, kernel);
    if (!report)
        return failure(report.error());
    PrintOptions print{draft.quiet, draft.verbose, draft.fail_on, 0, {}};
    leave_out(*report, draft, known, print);
    if (draft.json)
        print_json(*kernel, *report, print);
    else
        print_text(*kernel, *report, print);
    return end_output(is_good(*report, draft.fail_on) ? exit_good : exit_bad_input);
}

} // namespace btflink::kernel
