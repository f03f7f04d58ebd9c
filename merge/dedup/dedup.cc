// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Numbers the types, and runs the steps of the deduplication in order.
#include "merge/dedup/dedup.h"

#include "common/io/parallel.h"
#include "merge/base_index/base_index.h"
#include "merge/dedup/split/split_conflicts.h"
#include "merge/stats.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

Classes take_classes(const Sources &sources, const KnownClasses &known, unsigned threads)
{
    CHECK(!sources.has_base && sources.list.size() == sources.of_object.size());
    Classes out;
    for (auto [object, type] : known.first())
        out.first.push_back({object, type});
    out.of.resize(sources.types);
    parallel_for(sources.list.size(), threads, [&](size_t s) {
        const Source &source = sources.list[s];
        std::vector<uint32_t> numbers(source.count);
        known.copy(static_cast<uint32_t>(s), numbers);
        std::ranges::transform(numbers, out.of.data() + source.offset,
                               [](uint32_t c) { return ClassId{c}; });
    });
    return out;
}

} // namespace

Sources make_sources(const std::vector<Object> &objects, const std::vector<bool> &not_linked,
                     const Btf *base)
{
    Sources out;
    if (base) {
        out.has_base = true;
        out.base.resize(base->size() + 1);
        out.list.push_back({base, nullptr, base->size(), nullptr, out.base.data(), 0});
    }
    out.of_object.assign(objects.size(), UINT32_MAX);
    for (size_t i = 0; i < objects.size(); ++i) {
        if (not_linked[i])
            continue;
        const Object &o = objects[i];
        uint32_t count = o.has_trailer ? raw(o.trailer.plain_end) - 1 : o.btf.size();
        out.of_object[i] = static_cast<uint32_t>(out.list.size());
        out.list.push_back({&o.btf, o.hashes.data(), count,
                            o.has_trailer ? nullptr : &o.in_link_part, nullptr, out.types});
        out.types += count;
    }
    return out;
}

MergedTypes merge_types(const LoadedObjects &loaded, const std::vector<bool> &not_linked,
                        const BaseIndex *base, bool explained, unsigned threads, Stats &stats)
{
    stats.begin_pass("sources");
    Sources sources = make_sources(loaded.objects, not_linked, base ? base->btf().get() : nullptr);
    stats.add("types_in", sources.types + (base ? base->btf()->size() : 0));

    stats.begin_pass("group_by_hash");
    Classes classes = loaded.classes ? take_classes(sources, *loaded.classes, threads)
                                     : group_by_hash(sources, threads);
    if (base) {
        stats.begin_pass("choose_base");
        choose_base(sources, classes, *base, explained);
        stats.add("types_of_base", std::ranges::max(sources.base));
    }
    stats.add("distinct_hashes", classes.first.size());

    // From here on, millions of types are represented by some hundred thousand classes.
    stats.begin_pass("class_graph");
    ClassGraph graph = make_class_graph(sources, classes);

    // After this pass, classes are final.
    stats.begin_pass("split_conflicts");
    const ConflictGraph conflicts = make_conflict_graph(sources, classes, graph);
    std::vector<Groups> alternatives; // empty without conflicts
    if (conflicts.count)
        alternatives =
            join_groups(sources, graph, conflicts,
                        find_reachable_conflicts(sources, classes, graph, conflicts, threads));
    Partition partition =
        split_conflicts(sources, std::move(classes), graph, conflicts, alternatives);
    stats.add("conflicting_names", conflicts.count);
    stats.end_pass();
    return MergedTypes{std::move(sources), std::move(partition)};
}

} // namespace btflink::merge
