// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Gives ids to the plain types and VARs of the result, then writes them.
#include "merge/output/write_steps.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace btflink::merge
{

namespace
{

/// The classes in the order of their lowest types.
std::vector<ClassId> order_of(const Partition &partition)
{
    std::vector<ClassId> order;
    order.reserve(partition.classes.size());
    for (ClassId c : partition.classes.ids())
        order.push_back(c);
    auto first = [&](ClassId c) { return std::pair(partition.classes[c].first, c); };
    // Only classes that split_conflicts() appended, or gave another lowest type, are not sorted.
    auto before = [&](ClassId a, ClassId b) { return first(a) < first(b); };
    auto rest = std::is_sorted_until(order.begin(), order.end(), before);
    std::sort(rest, order.end(), before);
    std::inplace_merge(order.begin(), rest, order.end(), before);
    return order;
}

/// Calls visit(tag id) for the DECL_TAGs of a variable, once for equal tags.
template <typename Visit>
void for_tags(const Object &o, TypeId variable, Visit visit)
{
    std::set<std::tuple<uint32_t, uint32_t, std::string_view>> seen;
    for (auto [target, tag] : o.tags_of(variable)) {
        const btf_type &t = o.btf.type(tag);
        if (seen.emplace(t.info, btf::tail_of(t)[0], o.btf.str(t.name_off)).second)
            visit(tag);
    }
}

/// The classes whose lowest types are in a source.
std::span<const ClassId> classes_in(const ResultParts &parts, const ResultIds &ids, uint32_t source)
{
    auto source_of = [&](ClassId c) { return parts.partition.classes[c].first.source; };
    // clang 14 does not compile equal_range() with libstdc++ 12.
    return {std::ranges::lower_bound(ids.order, source, {}, source_of),
            std::ranges::upper_bound(ids.order, source, {}, source_of)};
}

/// Appends a copy of a type of a source. The copy has string offsets of the result, but type ids of
/// the source.
btf_type &append(ResultTypes &out, const Btf &btf, const btf_type &t)
{
    const auto *words = reinterpret_cast<const uint32_t *>(&t);
    const size_t begin = out.words.size(), count = btf::words_of(t);
    out.words.insert(out.words.end(), words, words + count);
    auto &copy = *reinterpret_cast<btf_type *>(out.words.data() + begin);
    CHECK(btf::words_of(copy) == count); // otherwise a mapped input file has changed
    btf::for_each_str_off(copy, [&](uint32_t &off) { off = out.strings.add(btf.str(off)); });
    return copy;
}

/// Writes a class. One that is not in the result adds only its strings (see write_btf.cc).
void write_class(const ResultParts &parts, const ResultIds &ids, ClassId number, ResultTypes &out)
{
    const Partition &partition = parts.partition;
    const FinalClass &c = partition.classes[number];
    const bool is_live = partition.is_live(number);
    const TypeAt at = is_live ? c.canonical : c.first;
    const Btf &btf = *parts.sources.list[at.source].btf;
    const btf_type &t = parts.sources.type(at);
    if (!is_live)
        return btf::for_each_str_off(t, [&](uint32_t off) { out.strings.add(btf.str(off)); });
    const size_t begin = out.words.size();
    btf_type &copy = append(out, btf, t);
    // This call must come before the copy's ids are translated: `btf` knows only the old ones.
    const bool in_index = may_be_in_link_part(btf, copy);
    if (c.refs == no_refs)
        btf::for_each_type_id(copy, [&](uint32_t &ref) { ref = ids.of(parts, at.source, ref); });
    else
        btf::for_each_type_id(copy,
                              [&, next = partition.refs[c.refs].begin()](uint32_t &ref) mutable {
                                  const ClassId to = *next++;
                                  ref = to == ClassId::none ? 0 : ids.of_class[partition.alias[to]];
                              });
    if (in_index)
        out.index.add_own(std::span(out.words).subspan(begin), ids.of_class[number]);
}

void write_variable(const ResultParts &parts, const ResultIds &ids, uint32_t object, size_t number,
                    ResultTypes &out)
{
    const Object &o = parts.objects[object];
    const TypeId var = o.variables[number].var;
    btf_type &copy = append(out, o.btf, o.btf.type(var));
    copy.type = ids.of_object(parts, object, copy.type);
    for_tags(o, var, [&](TypeId tag) {
        const btf_type &t = o.btf.type(tag);
        out.append({out.strings.add(o.btf.name(tag)), t.info, ids.of_variable[object][number],
                    btf::tail_of(t)[0]});
    });
}

} // namespace

ResultIds number_types(const ResultParts &parts)
{
    ResultIds ids{order_of(parts.partition),
                  IdVector<ClassId, uint32_t>(parts.partition.classes.size()),
                  std::vector<std::vector<uint32_t>>(parts.objects.size())};
    if (const Btf *base = parts.base())
        ids.end = raw(base->end_id());
    const Partition &partition = parts.partition;
    if (parts.sources.has_base)
        for (ClassId c : classes_in(parts, ids, 0))
            if (partition.is_live(c))
                ids.of_class[c] = raw(partition.classes[c].first.type);
    for (size_t i = 0; i < parts.objects.size(); ++i) {
        if (parts.sources.of_object[i] == UINT32_MAX)
            continue;
        for (ClassId c : classes_in(parts, ids, parts.sources.of_object[i]))
            if (partition.is_live(c))
                ids.of_class[c] = ids.end++;
        const Object &o = parts.objects[i];
        ids.of_variable[i].resize(o.variables.size());
        for (size_t v = 0; v < o.variables.size(); ++v) {
            if (!parts.variables.kept[i][v])
                continue;
            ids.of_variable[i][v] = ids.end++;
            for_tags(o, o.variables[v].var, [&](TypeId) { ++ids.end; });
        }
    }
    return ids;
}

void write_plain_types(const ResultParts &parts, const ResultIds &ids, ResultTypes &out)
{
    // More words than the average type has; unused pages cost nothing.
    out.words.reserve(ids.order.size() * 16);
    for (uint32_t i = 0; i < parts.objects.size(); ++i) {
        if (parts.sources.of_object[i] == UINT32_MAX)
            continue;
        for (ClassId c : classes_in(parts, ids, parts.sources.of_object[i]))
            write_class(parts, ids, c, out);
        for (size_t v = 0; v < parts.objects[i].variables.size(); ++v)
            if (parts.variables.kept[i][v])
                write_variable(parts, ids, i, v, out);
    }
}

} // namespace btflink::merge
