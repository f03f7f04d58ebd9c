// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds an order of objects that results in few groups.
//
// Problem. If objects join in link order, a group may mix definitions. For example, all objects
// have `struct a { struct b *b; struct c *c; }`, structs b and c lead to `struct core`, and
// `struct core` has two definitions. The first object has the first definition and defines b, but
// only declares c; the second object has the second definition and defines c, but only declares b.
// Their structs a agree and become one group, in which b leads to the first `struct core` and c to
// the second. No object that defines both b and c agrees with this group, so objects with either
// definition need another group. Such mixtures multiply with the number of slots: a class may get
// twenty groups instead of two.
//
// Method. Objects with the same definitions of conflicting names join one after the other; the
// names with the most nodes count first. When the first object with other definitions joins,
// the groups have resolved everything that the earlier objects know, so they disagree with this
// object. Objects without definitions of these names come last, because they agree with any group.
//
// Cost. Two passes over the nodes, and one sort of the objects.
#include "merge/dedup/join/join_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace btflink::merge
{

namespace
{

constexpr size_t most_names = 64; // to compare; more would only take memory

/// The definitions of a name.
struct Definitions {
    uint32_t nodes = 0;
    ClassId first = ClassId::none;
    bool differ = false;
};

/// Names with definitions in several classes, those with the most nodes first: at most most_names.
std::vector<NameId> find_conflicting_names(const ConflictGraph &conflicts)
{
    IdVector<NameId, Definitions> of_name(conflicts.slot_names);
    for (const Node &n : conflicts.nodes) {
        if (n.is_forward())
            continue;
        Definitions &of = of_name[n.name];
        if (!of.nodes++)
            of.first = n.cls;
        of.differ |= n.cls != of.first;
    }
    std::vector<NameId> names;
    for (NameId n : of_name.ids())
        if (of_name[n].differ)
            names.push_back(n);
    std::ranges::stable_sort(names, std::greater(), [&](NameId n) { return of_name[n].nodes; });
    names.resize(std::min(names.size(), most_names));
    return names;
}

} // namespace

std::vector<uint32_t> order_by_definitions(const Sources &sources, const ConflictGraph &conflicts)
{
    const std::vector<NameId> names = find_conflicting_names(conflicts);
    IdVector<NameId, uint32_t> rank(conflicts.slot_names, no_number);
    for (uint32_t i = 0; i < names.size(); ++i)
        rank[names[i]] = i;
    // Per source and name: the lowest class that defines the name there; or none.
    const size_t width = names.size();
    std::vector<ClassId> definitions(sources.list.size() * width, ClassId::none);
    for (const Node &n : conflicts.nodes)
        if (!n.is_forward() && rank[n.name] != no_number) {
            ClassId &lowest = definitions[n.source * width + rank[n.name]];
            lowest = std::min(lowest, n.cls);
        }
    auto row = [&](uint32_t source) {
        return std::span(definitions).subspan(source * width, width);
    };
    std::vector<uint32_t> order(sources.list.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + sources.has_base, order.end(), [&](uint32_t a, uint32_t b) {
        return std::ranges::lexicographical_compare(row(a), row(b));
    });
    return order;
}

} // namespace btflink::merge
