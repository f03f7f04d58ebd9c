// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes that find equal types, select functions and variables, and write the merged BTF.
#include "merge/passes.h"

#include "merge/base_index/base_index.h"
#include "merge/dedup/dedup.h"
#include "merge/explain/explain.h"
#include "merge/link/select.h"
#include "merge/output/write_steps.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

struct SelectedContents {
    Functions functions;
    Variables variables;
};

SelectedContents select_contents(FeatureSet features, const MergeInputs &in, const LinkResult &link)
{
    return {select_functions(in.files.list, in.objects(), link.image, link.locations, features),
            select_variables(in.objects(), link.image, link.locations, features)};
}

/// Variables that are left out for one reason.
struct LostVariables {
    const char *why_one, *why_several;
    size_t count = 0;
    std::string first = "";

    void add(const std::string &name)
    {
        if (count++ == 0)
            first = name;
    }
    std::string text() const
    {
        return strf("%zu %s left out, because %s; the first is %s", count,
                    count == 1 ? "variable is" : "variables are",
                    count == 1 ? why_one : why_several, first.c_str());
    }
};

/// Notes the variables that are left out, except those in sections that the features do not select.
/// Warns of variables with unknown addresses in objects without a trailer.
void report_left_out(const std::vector<Object> &objects,
                     const std::vector<SkippedVariable> &skipped, Report &report)
{
    LostVariables unlisted{"no DATASEC lists it", "no DATASEC lists them"},
        without_symbol{"no symbol shows where it is", "no symbol shows where they are"};
    for (const SkippedVariable &v : skipped) {
        if (v.reason == VariableSkip::other_section)
            continue;
        // Many variables may share one long name, so it is cut.
        const std::string name = "variable " + std::string(v.name.substr(0, long_name)) + " of " +
                                 objects[v.object].describe();
        if (v.reason == VariableSkip::no_address && !objects[v.object].has_trailer)
            (v.is_listed ? without_symbol : unlisted).add(name);
        report.notes.push_back(name + " left out: " + skip_name(v.reason));
    }
    for (const LostVariables *lost : {&unlisted, &without_symbol})
        if (lost->count)
            report.warnings.push_back(lost->text());
}

/// Reports what was selected, and why the rest was not.
void report_selection(const std::vector<Object> &objects, const SelectedContents &selected,
                      Report &report, Stats &stats)
{
    const auto &[functions, variables] = selected;
    for (size_t i = 0; i < functions.skip_counts.size(); ++i)
        stats.add(std::string("functions_") + skip_name(static_cast<FunctionSkip>(i)),
                  functions.skip_counts[i]);
    for (const SkippedFunction &f : functions.skipped)
        report.functions_left_out.emplace_back(f.name, f.reason);
    for (std::string_view name : functions.bad_arenas)
        report.warnings.push_back("kfunc " + std::string(name) +
                                  ": its flags name an arena pointer where its prototype has "
                                  "none; the prototype stays as it is");
    int64_t kept = 0;
    for (const std::vector<bool> &of_object : variables.kept)
        kept += std::ranges::count(of_object, true);
    stats.add("variables_kept", static_cast<uint64_t>(kept));
    for (size_t i = 1; i < variables.skip_counts.size(); ++i)
        stats.add(std::string("variables_") + skip_name(static_cast<VariableSkip>(i)),
                  variables.skip_counts[i]);
    report_left_out(objects, variables.skipped, report);
}

/// The passes trust the types and the index that they read. Error: one of these types, or the index
/// of the base, is malformed. This error takes precedence over an error of a pass, which the
/// malformed data may have caused.
Result<void> check_trust(const MergeInputs &in, const Base &base,
                         const std::vector<bool> &not_linked)
{
    TRY(check_sampled(in.objects(), not_linked));
    if (base.index && base.index->is_malformed())
        return fail(base.where, "its index is damaged; remove the index");
    return {};
}

} // namespace

Result<std::vector<std::byte>> make_blob(const Options &options, const Base &base,
                                         const MergeInputs &in, const LinkResult &link,
                                         Report &report, Stats &stats)
{
    const std::vector<Object> &objects = in.objects();
    const std::vector<bool> &not_linked = link.locations.not_linked;
    const Where blamed = base.btf ? base.input->where : where_of_inputs(options);
    const bool by_libbpf = options.engine == Engine::libbpf;
    // Selection and deduplication are independent, and each takes a quarter of a kernel's merge.
    auto selection = std::async(launch_policy(options, in),
                                [&] { return select_contents(options.features, in, link); });
    const MergedTypes types =
        by_libbpf ? keep_all(objects, not_linked, base.btf.get())
                  : merge_types(in.loaded, not_linked, base.index.get(),
                                options.why_dup.has_value(), options.threads, stats);
    stats.begin_pass("select_contents"); // if another thread selects: only the wait for its end
    const SelectedContents selected = selection.get();
    report_selection(objects, selected, report, stats);
    if (options.why_dup) {
        stats.begin_pass("why_dup");
        report.why_dup = why_dup(objects, types, *options.why_dup, options.base);
    }
    Result<std::vector<std::byte>> blob;
    if (writes_result(options)) {
        stats.begin_pass("write_types");
        blob = write_types(objects, types.sources, types.partition, selected.functions,
                           selected.variables, by_libbpf ? nullptr : base.index.get(),
                           by_libbpf ? host_order : in.target.order, blamed);
    }
    stats.end_pass();
    TRY(check_trust(in, base, not_linked));
    if (!by_libbpf || !blob)
        return blob;
    stats.begin_pass("dedup");
    return dedup_libbpf(*blob, base.btf, in.target.order, where_of_inputs(options));
}

} // namespace btflink::merge
