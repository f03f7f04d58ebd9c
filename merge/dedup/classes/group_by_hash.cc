// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups the types of all objects by stub hash.
//
// Problem. The objects of a kernel have five million types, of which one in forty is distinct.
// Grouping them should run at the speed of reading 16 bytes per type, on all threads, and the
// result must not depend on the threads.
//
// Method. The sources are divided, in link order, into ranges, at most one per thread. Each thread
// finds the distinct hashes of its range with its own table, which contains only these and
// therefore fits into a cache. Then one thread adds the hashes of the other tables to the first, in
// link order. So the first type with a hash is the lowest, and classes are numbered in the order of
// their lowest types, whatever the ranges are.
//
// Collisions. With 10^7 distinct types the probability that two 128-bit hashes collide is 10^-25.
//
// Cost. One look-up per type in a table of some megabytes, prefetched some types ahead; 4 bytes of
// result per type. Merging the tables costs one look-up per distinct hash of each range.
//
// Rejected. Records of (hash, object, type), sorted into buckets: 24 bytes per type are written and
// read again, while the table reads 16 once. One shared table with atomics: its cache lines move
// between all cores. Predicting that the types after two equal types are equal, because objects
// include the same headers: this finds nine of ten types with a third of the instructions, but
// takes a fifth longer, because the slots of the remaining types cannot be prefetched.
#include "merge/dedup/classes/classes.h"

#include "common/graph/tables.h"
#include "common/io/parallel.h"
#include "common/object_btf/type_hash.h"
#include "merge/dedup/hash_bits.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

constexpr size_t ahead = 12; // prefetch distance in types
// Fewer types are not worth a thread. Tests of collisions are small, but need several ranges.
constexpr size_t min_types = trust_hashes ? size_t{1} << 14 : 16;

/// A distinct hash, and the first type with this hash.
struct DistinctHash {
    Hash128 hash;
    TypeAt first;
};

/// Distinct hashes in order of arrival, numbered as classes. Slots contain whole hashes, so a
/// look-up takes one memory access.
class DistinctHashes
{
public:
    void prefetch(const Hash128 &hash) const { slots_.prefetch(hash.low); }

    /// The entry with this hash, which is added if it is new.
    [[gnu::always_inline]] ClassId add(const Hash128 &hash, TypeAt type)
    {
        auto same = [&](const HashSlot &slot) { return slot.hash == hash; };
        auto make = [&] {
            entries_.push_back({hash, type});
            return HashSlot{hash, static_cast<uint32_t>(entries_.size())};
        };
        return ClassId{slots_.find_or_add(hash.low, same, make).first->entry - 1};
    }

    const IdVector<ClassId, DistinctHash> &entries() const { return entries_; }

private:
    IdVector<ClassId, DistinctHash> entries_;
    OpenTable<HashSlot> slots_{4096};
};

/// The sources [begin, end) of one thread.
struct SourceRange {
    uint32_t begin, end;
};

std::vector<SourceRange> divide(const Sources &sources, unsigned threads)
{
    size_t wanted = std::clamp<size_t>(sources.types / min_types, 1, threads);
    std::vector<SourceRange> ranges;
    uint32_t begin = sources.has_base, end = begin;
    auto count = static_cast<uint32_t>(sources.list.size());
    for (size_t i = 1; i <= wanted; ++i) {
        size_t until = sources.types / wanted * i;
        while (end < count && (i == wanted || sources.list[end].offset < until))
            ++end;
        if (begin != end)
            ranges.push_back({begin, end});
        begin = end;
    }
    return ranges;
}

/// Adds the hashes of the range to `table`. `of`: receives, for each type of the range, the number
/// of its hash in `table`, or none if the type is not plain.
void find_distinct(const Sources &sources, SourceRange range, DistinctHashes &table,
                   std::vector<ClassId> &of)
{
    for (uint32_t s = range.begin; s < range.end; ++s) {
        const Source &source = sources.list[s];
        ClassId *out = of.data() + source.offset;
        if (source.skip) {
            std::fill_n(out, source.count, ClassId::none);
            for (uint32_t i = 0; i < source.count; ++i)
                if (!(*source.skip)[i])
                    out[i] = table.add(source.hash(i), {s, TypeId{i + 1}});
            continue;
        }
        for (uint32_t i = 0; i < source.count; ++i) {
            if (i + ahead < source.count)
                table.prefetch(source.hash(i + ahead));
            out[i] = table.add(source.hash(i), {s, TypeId{i + 1}});
        }
    }
}

/// Adds the entries of `table` to `all`; their types come after those of `all`. Returns the class
/// of each entry: the number of its hash in `all`.
IdVector<ClassId, ClassId> merge_table(DistinctHashes &all, const DistinctHashes &table)
{
    IdVector<ClassId, ClassId> out;
    out.reserve(table.entries().size());
    const DistinctHash *entries = table.entries().data();
    for (size_t i = 0; i < table.entries().size(); ++i) {
        if (i + ahead < table.entries().size())
            all.prefetch(entries[i + ahead].hash);
        out.push_back(all.add(entries[i].hash, entries[i].first));
    }
    return out;
}

} // namespace

Classes group_by_hash(const Sources &sources, unsigned threads)
{
    Classes out;
    out.of.resize(sources.types);
    const std::vector<SourceRange> ranges = divide(sources, threads);
    std::vector<DistinctHashes> tables(ranges.size());
    parallel_for(ranges.size(), threads,
                 [&](size_t r) { find_distinct(sources, ranges[r], tables[r], out.of); });
    if (ranges.empty())
        return out;
    std::vector<IdVector<ClassId, ClassId>> classes(ranges.size());
    for (size_t r = 1; r < ranges.size(); ++r)
        classes[r] = merge_table(tables[0], tables[r]);
    for (const DistinctHash &d : tables[0].entries())
        out.first.push_back(d.first);
    parallel_for(ranges.size() - 1, threads, [&](size_t i) {
        const size_t r = i + 1; // the entries of the first range are the first classes
        const Source &first = sources.list[ranges[r].begin],
                     &last = sources.list[ranges[r].end - 1];
        for (size_t t = first.offset; t < last.offset + last.count; ++t)
            if (out.of[t] != ClassId::none)
                out.of[t] = classes[r][out.of[t]];
    });
    return out;
}

} // namespace btflink::merge
