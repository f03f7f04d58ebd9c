// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Selects functions and variables; counts, notes and warnings about them.
#include "merge/select_contents.h"

#include <algorithm>

namespace btflink::merge
{

SelectedContents select_contents(FeatureSet features, const MergeInputs &in, const LinkResult &link)
{
    return {select_functions(in.files.list, in.objects(), link.image, link.locations, features),
            select_variables(in.objects(), link.image, link.locations, features)};
}

void report_selection(const std::vector<Object> &objects, const SelectedContents &selected,
                      Report &report, Stats &stats)
{
    const auto &[functions, variables] = selected;
    stats.add("function_instances", functions.candidates);
    stats.add("function_instances_without_symbol", functions.without_symbol);
    for (size_t i = 0; i < functions.skip_counts.size(); ++i)
        stats.add(std::string("functions_") + skip_name(static_cast<FunctionSkip>(i)),
                  functions.skip_counts[i]);
    for (const SkippedFunction &f : functions.skipped)
        report.functions_left_out.emplace_back(f.name, f.reason);
    for (std::string_view name : functions.no_arena)
        report.warnings.push_back("kfunc " + std::string(name) +
                                  ": its flags name an arena pointer where its prototype has "
                                  "none; the prototype stays as it is");
    int64_t kept = 0;
    for (const std::vector<bool> &of_object : variables.kept)
        kept += std::count(of_object.begin(), of_object.end(), true);
    stats.add("variables_kept", static_cast<uint64_t>(kept));
    for (size_t i = 1; i < variables.skip_counts.size(); ++i)
        stats.add(std::string("variables_") + skip_name(static_cast<VariableSkip>(i)),
                  variables.skip_counts[i]);
    size_t lost = 0; // from objects without a trailer
    std::string first_lost;
    for (const SkippedVariable &v : variables.skipped) {
        if (v.reason == VariableSkip::other_section)
            continue;
        std::string name =
            "variable " + std::string(v.name) + " of " + objects[v.object].describe();
        if (v.reason == VariableSkip::no_address && !objects[v.object].has_trailer && lost++ == 0)
            first_lost = name;
        report.notes.push_back(name + " left out: " + skip_name(v.reason));
    }
    if (lost)
        report.warnings.push_back(
            strf("%zu %s left out, because no DATASEC lists them; the first is %s", lost,
                 lost == 1 ? "variable is" : "variables are", first_lost.c_str()));
}

} // namespace btflink::merge
