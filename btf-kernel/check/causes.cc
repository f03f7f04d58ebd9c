// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups findings, and writes the line of a group.
#include "btf-kernel/check/causes.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_names = 3; // in one line

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

} // namespace

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

std::string line_of(const Finding &finding)
{
    return std::string(rule_name(finding.rule)) + ": " +
           (finding.binary.empty() ? "" : plain_text(finding.binary) + ": ") + finding.error.str();
}

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

} // namespace btflink::kernel
