// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes that find equal types and write one of each.
#include "merge/make_blob.h"

#include "merge/base_index/base_index.h"
#include "merge/dedup/libbpf/dedup_libbpf.h"
#include "merge/explain/why_dup.h"
#include "merge/output/write_btf.h"
#include "merge/select_contents.h"

namespace btflink::merge
{

namespace
{

/// The passes trusted their input. If a pass failed, a malformed type may be the cause, so its
/// error comes first.
Result<void> check_trust(const MergeInputs &in, const Base &base,
                         const std::vector<bool> &not_linked, unsigned threads)
{
    TRY(check_marked(in.files.list, in.objects(), not_linked, threads));
    if (base.index && base.index->is_damaged())
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
    const Where blamed = base.btf ? base.input->where : blamed_for_all(options);
    const bool by_libbpf = options.engine == Engine::libbpf;
    // Neither needs the other, and each takes a quarter of a kernel's merge.
    auto selection = std::async(second_thread(options, in),
                                [&] { return select_contents(options.features, in, link); });
    const MergedTypes types =
        by_libbpf ? keep_all(objects, not_linked, base.btf.get())
                  : merge_types(in.loaded, not_linked, base.index.get(),
                                options.why_dup.has_value(), options.threads, stats);
    stats.begin_pass("select_contents"); // what is left of it
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
                           by_libbpf ? host_order : in.target.order, blamed,
                           second_thread(options, in));
    }
    stats.end_pass();
    TRY(check_trust(in, base, not_linked, options.threads));
    if (!by_libbpf || !blob)
        return blob;
    stats.begin_pass("dedup");
    return dedup_libbpf(*blob, base.btf, in.target.order, blamed_for_all(options));
}

} // namespace btflink::merge
