// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Walks over the names of both sides, which are sorted by key. Equal definitions are dropped; the
// others are paired by similarity.
#include "btf-kernel/diff/match_names.h"

#include "btf-kernel/diff/compare_types.h"

#include <algorithm>

namespace btflink::kernel::diff
{

namespace
{

constexpr size_t most_paired = 64; // definitions of one name that are paired by similarity

/// Definitions of one name, and their side.
struct Definitions {
    const Side *side;
    std::vector<const Definition *> list;
    bool own; // of the place itself; false: of vmlinux, for a module that has none
};

std::span<const Definition> of_key(std::span<const Definition> names, size_t at, uint64_t key)
{
    size_t end = at;
    while (end < names.size() && names[end].key == key)
        ++end;
    return names.subspan(at, end - at);
}

bool are_equal(std::span<const Definition> a, std::span<const Definition> b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Definition &x, const Definition &y) { return x.shape == y.shape; });
}

/// `own`: the definitions of `key` in the place itself.
Definitions definitions(const Sides &sides, uint32_t place, std::span<const Definition> own,
                        uint64_t key)
{
    Definitions out{sides.at(place), {}, !own.empty()};
    if (own.empty() && place) {
        out.side = sides.vmlinux.get();
        own = out.side->find(key);
    }
    for (const Definition &named : own)
        out.list.push_back(&named);
    return out;
}

/// Is the change of a constant reported separately? Constants of named enums are reported with the
/// enum. A constant with the same value on both sides only moved to another enum.
bool is_about_constant(const Definitions &before, const Definitions &after)
{
    bool in_unnamed_enum = false;
    for (const Definition *a : before.list)
        in_unnamed_enum |= a->in_unnamed_enum;
    for (const Definition *b : after.list) {
        in_unnamed_enum |= b->in_unnamed_enum;
        for (const Definition *a : before.list)
            if (a->shape == b->shape)
                return false;
    }
    return in_unnamed_enum;
}

void drop_common(std::vector<const Definition *> &a, std::vector<const Definition *> &b)
{
    std::erase_if(b, [&](const Definition *named) {
        auto same = std::find_if(a.begin(), a.end(), [&](const Definition *other) {
            return other->shape == named->shape;
        });
        if (same == a.end())
            return false;
        a.erase(same);
        return true;
    });
}

/// Indexes of the two definitions that are most similar.
std::pair<ptrdiff_t, ptrdiff_t> most_similar(const Definitions &before, const Definitions &after)
{
    std::pair<ptrdiff_t, ptrdiff_t> best{0, 0};
    const size_t count = before.list.size() + after.list.size();
    if (count == 2 || count >= most_paired)
        return best;
    size_t most = 0;
    for (size_t i = 0; i < before.list.size(); ++i)
        for (size_t j = 0; j < after.list.size(); ++j) {
            const size_t alike =
                similarity({*before.side, before.list[i]->id}, {*after.side, after.list[j]->id});
            if (alike > most) {
                most = alike;
                best = {i, j};
            }
        }
    return best;
}

void match_name(Definitions before, Definitions after, uint32_t place, std::vector<Delta> &out)
{
    const Definition &first = before.list.empty() ? *after.list.front() : *before.list.front();
    const bool had_any = !before.list.empty(), has_any = !after.list.empty();
    if (first.space == Space::constant && !is_about_constant(before, after))
        return;
    drop_common(before.list, after.list);
    while (!before.list.empty() && !after.list.empty()) {
        const auto [i, j] = most_similar(before, after);
        out.push_back({before.side, after.side, before.list[i], after.list[j], place, false});
        before.list.erase(before.list.begin() + i);
        after.list.erase(after.list.begin() + j);
    }
    // Remaining definitions of vmlinux are reported for vmlinux.
    if (before.own)
        for (const Definition *named : before.list)
            out.push_back({before.side, after.side, named, nullptr, place, has_any});
    if (after.own)
        for (const Definition *named : after.list)
            out.push_back({before.side, after.side, nullptr, named, place, had_any});
}

} // namespace

std::vector<Delta> match_names(const Sides &before, const Sides &after, uint32_t place)
{
    const std::span<const Definition> a = before.at(place)->names, b = after.at(place)->names;
    std::vector<Delta> out;
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const uint64_t key =
            std::min(i < a.size() ? a[i].key : UINT64_MAX, j < b.size() ? b[j].key : UINT64_MAX);
        const std::span<const Definition> old = of_key(a, i, key), now = of_key(b, j, key);
        if (!are_equal(old, now))
            match_name(definitions(before, place, old, key), definitions(after, place, now, key),
                       place, out);
        i += old.size();
        j += now.size();
    }
    return out;
}

} // namespace btflink::kernel::diff
