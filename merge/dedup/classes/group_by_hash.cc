// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups the types of all objects by stub hash.
//
// Problem. The objects of a kernel have six million types, of which one in a hundred is distinct.
// Grouping them should run at the speed of reading 16 bytes per type, on all threads, and its
// result must not depend on the threads.
//
// Method. The types are cut, in link order, into as many runs as there are threads. Each thread
// finds the distinct hashes of its run with a table of its own, which holds only these and so fits
// into a cache. Then the tables are merged: distinct hashes fall into shards by their upper bits,
// one thread merges a shard, and of equal hashes the lowest type stays. Classes are numbered in the
// order of their lowest types. The lowest type of a class is the same however the runs are cut, so
// the numbers are, too.
//
// Collisions. With 10^7 distinct types the odds that two 128-bit hashes collide are 10^-25. Test
// builds keep a few bits only and compare types with equal hashes; so tests show that nothing else
// trusts hashes (hash_bits.h).
//
// Cost. One look-up per type in a table of some megabytes, prefetched some types ahead; 4 bytes of
// result per type.
//
// Rejected. Records of (hash, object, type), sorted into buckets: 24 bytes per type are written and
// read again, where the table reads 16 once. One shared table with atomics: its cache lines travel
// between all cores. Following the types behind an equal one that was looked up before, as objects
// include the same headers: nine of ten types are found so, with a third of the instructions, but
// it takes a fifth longer, because the slots of the others cannot be fetched ahead.
#include "merge/dedup/classes/group_by_hash.h"

#include "common/io/parallel.h"
#include "merge/dedup/classes/distinct_hashes.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

constexpr size_t shard_bits = 6;
constexpr size_t shard_count = size_t{1} << shard_bits;
constexpr size_t ahead = 12; // slots are fetched this many types ahead
// Types that are not worth a thread. Tests of collisions are small and want the shards, too.
constexpr size_t small_run = hashes_believed ? size_t{1} << 14 : 16;

/// Sources [begin, end) of one thread.
struct Run {
    uint32_t begin, end;
};

std::vector<Run> cut(const Sources &sources, unsigned threads)
{
    size_t wanted = std::clamp<size_t>(sources.types / small_run, 1, threads);
    std::vector<Run> runs;
    uint32_t begin = sources.has_base, end = begin;
    auto count = static_cast<uint32_t>(sources.list.size());
    for (size_t i = 1; i <= wanted; ++i) {
        size_t until = sources.types / wanted * i;
        while (end < count && (i == wanted || sources.list[end].offset < until))
            ++end;
        if (begin != end)
            runs.push_back({begin, end});
        begin = end;
    }
    return runs;
}

/// `of`: gets the types' classes of this run.
void find_distinct(const Sources &sources, Run run, DistinctHashes &table, UnsetVector<ClassId> &of)
{
    for (uint32_t s = run.begin; s < run.end; ++s) {
        const Source &source = sources.list[s];
        ClassId *out = of.data() + source.offset;
        if (source.skip) {
            std::fill_n(out, source.count, ClassId::none);
            for (uint32_t i = 0; i < source.count; ++i)
                if (!(*source.skip)[i])
                    out[i] = table.add(visible(source.hash(i)), {s, TypeId{i + 1}});
            continue;
        }
        for (uint32_t i = 0; i < source.count; ++i) {
            if (i + ahead < source.count)
                table.prefetch(visible(source.hash(i + ahead)));
            out[i] = table.add(visible(source.hash(i)), {s, TypeId{i + 1}});
        }
    }
}

size_t shard_of(const Hash128 &hash)
{
    return hash.high >> (64 - shard_bits);
}

} // namespace

Classes group_by_hash(const Sources &sources, unsigned threads)
{
    Classes out;
    out.of.resize(sources.types);
    std::vector<Run> runs = cut(sources, threads);
    std::vector<DistinctHashes> tables(runs.size(), DistinctHashes(sources));
    parallel_for(runs.size(), threads,
                 [&](size_t i) { find_distinct(sources, runs[i], tables[i], out.of); });

    // Entries by shard; runs are in link order, so the first of equal ones is the lowest.
    std::vector<IdVector<ClassId, Distinct>> shards(shard_count);
    std::vector<IdVector<ClassId, ClassId>> places(runs.size()); // class of a run -> of its shard
    if (runs.empty())
        return out;
    if (runs.size() == 1) {
        for (const Distinct &d : tables[0].entries())
            out.first.push_back(d.first);
        return out;
    }
    std::vector<std::vector<std::vector<ClassId>>> members(runs.size());
    parallel_for(runs.size(), threads, [&](size_t r) {
        members[r].resize(shard_count);
        const auto &entries = tables[r].entries();
        for (ClassId e : entries.ids())
            members[r][shard_of(entries[e].hash)].push_back(e);
        places[r].resize(entries.size());
    });
    parallel_for(shard_count, threads, [&](size_t shard) {
        DistinctHashes table(sources);
        for (size_t r = 0; r < runs.size(); ++r)
            for (ClassId e : members[r][shard]) {
                const Distinct &d = tables[r].entries()[e];
                places[r][e] = table.add(d.hash, d.first);
            }
        shards[shard] = std::move(table.entries());
    });
    std::vector<Distinct *> order;
    for (auto &shard : shards)
        for (Distinct &d : shard)
            order.push_back(&d);
    std::sort(order.begin(), order.end(),
              [](const Distinct *a, const Distinct *b) { return a->first < b->first; });
    out.first.reserve(order.size());
    for (Distinct *d : order) {
        d->number = out.first.next_id();
        out.first.push_back(d->first);
    }
    // Those of the first run have their numbers already: they are the lowest, in the same order.
    parallel_for(runs.size() - 1, threads, [&](size_t other) {
        const size_t r = other + 1;
        const auto &entries = tables[r].entries();
        IdVector<ClassId, ClassId> numbers(entries.size());
        for (ClassId e : entries.ids())
            numbers[e] = shards[shard_of(entries[e].hash)][places[r][e]].number;
        size_t begin = sources.list[runs[r].begin].offset;
        const Source &last = sources.list[runs[r].end - 1];
        for (size_t i = begin; i < last.offset + last.count; ++i)
            if (out.of[i] != ClassId::none)
                out.of[i] = numbers[out.of[i]];
    });
    return out;
}

} // namespace btflink::merge
