// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Groups that objects join in link order may become a mixture. One object has the first of
// two definitions of a core struct and knows b of `struct a { struct b *b; struct c *c; }`; the
// next has the second and knows c. Both structs a agree, so they are one group: with the first
// meaning of b and the second of c, which no object has that knows both. Each side then needs
// groups of its own all the same, and as slots multiply so do mixtures: twenty groups of a class
// where two would do.
//
// Method. Objects of one side come together. A side is what an object's definitions of names with
// several are, the names that most objects define counting first. When the second side comes, what
// the first knew is in its groups, and disagrees. Objects without any definition of a name come
// last: they fit anywhere.
//
// Cost. Nodes once, and a sort of objects.
#include "merge/dedup/join_order.h"

#include <algorithm>
#include <numeric>

namespace btflink::merge
{

namespace
{

constexpr size_t most_names = 64; // that decide: the rest is for odd corpora, and only costs room

} // namespace

std::vector<uint32_t> order_by_meaning(const Sources &sources, const HotGraph &hot)
{
    // Names with several definitions, and how many nodes they have.
    std::vector<uint32_t> weight(hot.slot_names), first(hot.slot_names, none), names;
    std::vector<bool> several(hot.slot_names);
    for (const Node &n : hot.nodes) {
        if (n.is_hole())
            continue;
        ++weight[n.name];
        if (first[n.name] == none)
            first[n.name] = n.cls;
        else if (first[n.name] != n.cls)
            several[n.name] = true;
    }
    for (uint32_t n = 0; n < hot.slot_names; ++n)
        if (several[n])
            names.push_back(n);
    std::stable_sort(names.begin(), names.end(),
                     [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
    names.resize(std::min(names.size(), most_names));
    std::vector<uint32_t> rank(hot.slot_names, none);
    for (uint32_t i = 0; i < names.size(); ++i)
        rank[names[i]] = i;

    // Per source and name: the lowest of its definitions.
    const size_t width = names.size();
    std::vector<uint32_t> sides(sources.list.size() * width, none);
    for (const Node &n : hot.nodes)
        if (!n.is_hole() && rank[n.name] != none) {
            uint32_t &side = sides[n.source * width + rank[n.name]];
            side = std::min(side, n.cls);
        }
    std::vector<uint32_t> order(sources.list.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + sources.has_base, order.end(), [&](uint32_t a, uint32_t b) {
        auto *x = sides.data() + a * width, *y = sides.data() + b * width;
        return std::lexicographical_compare(x, x + width, y, y + width);
    });
    return order;
}

} // namespace btflink::merge
