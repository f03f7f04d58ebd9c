// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "merge/dedup_hash.h"

namespace btflink::merge
{

Result<MergedTypes> merge_types(const std::vector<Object> &objects,
                                const std::vector<bool> &not_linked, const Btf *base,
                                const Where &base_where, unsigned threads, Stats &stats)
{
    auto sources = make_sources(objects, not_linked, base, base_where);
    if (!sources)
        return tl::unexpected(sources.error());
    stats.add("types_in", sources->types);
    stats.end_pass("sources");

    // Bin: equal stub hashes, one class.
    Classes classes = bin_types(*sources, threads);
    stats.add("distinct_hashes", classes.first.size());
    stats.end_pass("bin");

    // Graph: from here on millions of types are some ten thousand classes.
    ClassGraph graph = make_class_graph(*sources, classes, threads);
    stats.add("struct_names", graph.names.size());
    stats.end_pass("class_graph");

    // Refine: classes are final afterwards.
    Partition partition = refine(*sources, std::move(classes), graph, threads);
    stats.add("conflicting_names", partition.conflicts);
    stats.add("tainted_classes", partition.tainted_classes);
    stats.add("tainted_types", partition.tainted_types);
    stats.add("refinement_rounds", partition.rounds);
    stats.end_pass("refine");
    return MergedTypes{std::move(*sources), std::move(partition)};
}

} // namespace btflink::merge
