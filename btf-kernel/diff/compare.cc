// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. Two kernels have 100,000 names each, and 4,000 modules with names of their own, many of
// which are the same in hundreds of modules.
//
// Method. Each BTF gets a sorted list of names with the shapes of their definitions. Two lists are
// walked in parallel, and types are looked at only where shapes differ. The same change in several
// modules (equal name and shapes) is one change at several places.
//
// Modules. If a definition is missing in a module, it may have moved into vmlinux, and is then
// compared with that. If a type came or went in one place but is the same elsewhere in the other
// kernel, it only has other users, and this is no change.
//
// Cost. 0.2 s of processor time for two kernels without modules.
#include "btf-kernel/diff/compare.h"

#include "btf-kernel/diff/compare_types.h"
#include "btf-kernel/diff/effects.h"
#include "btf-kernel/diff/types.h"
#include "common/io/parallel.h"

#include <algorithm>
#include <map>

namespace btflink::kernel::diff
{

namespace
{

/// One name that is not the same on both sides.
struct Delta {
    const Side *old_side, *new_side;
    const Named *before, *after; // null: none
    uint32_t place;
    bool one_of_several;

    const Named &any() const { return before ? *before : *after; }
    auto identity() const
    {
        return std::tuple(any().key, before ? before->definition : 0, after ? after->definition : 0,
                          before != nullptr, after != nullptr);
    }
};

/// Definitions of one name in one place, and the side that they are of.
struct Definitions {
    const Side *side;
    std::vector<const Named *> list;
    bool own; // not the vmlinux's of a module
};

class Matcher
{
public:
    Matcher(const Sides &before, const Sides &after, uint32_t place)
        : before_(before), after_(after), place_(place)
    {
    }

    std::vector<Delta> run()
    {
        std::span<const Named> a = before_.at(place_)->names, b = after_.at(place_)->names;
        size_t i = 0, j = 0;
        while (i < a.size() || j < b.size()) {
            const uint64_t key = std::min(i < a.size() ? a[i].key : UINT64_MAX,
                                          j < b.size() ? b[j].key : UINT64_MAX);
            const size_t i_end = end_of(a, i, key), j_end = end_of(b, j, key);
            if (!equal(a.subspan(i, i_end - i), b.subspan(j, j_end - j)))
                name(key, a.subspan(i, i_end - i), b.subspan(j, j_end - j));
            i = i_end;
            j = j_end;
        }
        return std::move(deltas_);
    }

private:
    static size_t end_of(std::span<const Named> list, size_t at, uint64_t key)
    {
        while (at < list.size() && list[at].key == key)
            ++at;
        return at;
    }
    static bool equal(std::span<const Named> a, std::span<const Named> b)
    {
        return std::equal(
            a.begin(), a.end(), b.begin(), b.end(),
            [](const Named &x, const Named &y) { return x.definition == y.definition; });
    }

    Definitions definitions(const Sides &sides, std::span<const Named> own, uint64_t key) const
    {
        Definitions out{sides.at(place_), {}, !own.empty()};
        if (own.empty() && place_) {
            out.side = sides.vmlinux.get();
            own = out.side->find(key);
        }
        for (const Named &named : own)
            out.list.push_back(&named);
        return out;
    }

    void name(uint64_t key, std::span<const Named> a, std::span<const Named> b)
    {
        Definitions before = definitions(before_, a, key), after = definitions(after_, b, key);
        const auto &first = before.list.empty() ? after.list.front() : before.list.front();
        const bool several_a = !before.list.empty(), several_b = !after.list.empty();
        if (first->space == Space::constant && !is_about_constant(before, after))
            return;
        drop_common(before.list, after.list);
        pair(before, after);
        // What vmlinux has beside that is told there.
        if (!before.own)
            before.list.clear();
        if (!after.own)
            after.list.clear();
        for (const Named *named : before.list)
            deltas_.push_back({before.side, after.side, named, nullptr, place_, several_b});
        for (const Named *named : after.list)
            deltas_.push_back({before.side, after.side, nullptr, named, place_, several_a});
    }

    /// Constants of enums that have a name are told with these, and what has one value on both
    /// sides only changed its enum.
    static bool is_about_constant(const Definitions &before, const Definitions &after)
    {
        bool loose = false;
        for (const Named *a : before.list)
            loose |= a->loose;
        for (const Named *b : after.list) {
            loose |= b->loose;
            for (const Named *a : before.list)
                if (a->definition == b->definition)
                    return false;
        }
        return loose;
    }

    static void drop_common(std::vector<const Named *> &a, std::vector<const Named *> &b)
    {
        std::vector<const Named *> only_b;
        for (const Named *named : b) {
            auto same = std::find_if(a.begin(), a.end(), [&](const Named *other) {
                return other->definition == named->definition;
            });
            if (same == a.end())
                only_b.push_back(named);
            else
                a.erase(same);
        }
        b = std::move(only_b);
    }

    /// Which definition became which: the most alike first.
    void pair(Definitions &before, Definitions &after)
    {
        constexpr size_t too_many = 64; // nobody has so many definitions of one name
        while (!before.list.empty() && !after.list.empty()) {
            size_t best_i = 0, best_j = 0, best = 0;
            if (before.list.size() * after.list.size() > 1 &&
                before.list.size() + after.list.size() < too_many)
                for (size_t i = 0; i < before.list.size(); ++i)
                    for (size_t j = 0; j < after.list.size(); ++j) {
                        size_t alike = likeness({*before.side, before.list[i]->id},
                                                {*after.side, after.list[j]->id});
                        if (alike > best) {
                            best = alike;
                            best_i = i;
                            best_j = j;
                        }
                    }
            deltas_.push_back(
                {before.side, after.side, before.list[best_i], after.list[best_j], place_, false});
            before.list.erase(before.list.begin() + static_cast<ptrdiff_t>(best_i));
            after.list.erase(after.list.begin() + static_cast<ptrdiff_t>(best_j));
        }
    }

    const Sides &before_, &after_;
    uint32_t place_;
    std::vector<Delta> deltas_;
};

class Comparer
{
public:
    Comparer(const KernelTypes &before, const KernelTypes &after, unsigned threads)
        : threads_(threads)
    {
        Difference &d = out_.difference;
        d.old_name = before.name;
        d.new_name = after.name;
        name_modules(before, after);
        make_sides(before, after);
        d.old_types = count(out_.before);
        d.new_types = count(out_.after);
    }

    Compared run()
    {
        std::vector<std::vector<Delta>> per_place(out_.difference.modules.size() + 1);
        parallel_for(per_place.size(), threads_, [&](size_t i) {
            const auto place = static_cast<uint32_t>(i);
            if (out_.before.at(place) && out_.after.at(place))
                per_place[i] = Matcher(out_.before, out_.after, place).run();
        });
        std::vector<Delta> deltas;
        for (const auto &list : per_place)
            deltas.insert(deltas.end(), list.begin(), list.end());
        drop_moved(deltas);
        group(deltas);
        modules_as_a_whole();
        return std::move(out_);
    }

private:
    void name_modules(const KernelTypes &before, const KernelTypes &after)
    {
        auto &names = out_.difference.modules;
        for (const KernelTypes *kernel : {&before, &after})
            for (const ModuleTypes &module : kernel->modules)
                names.push_back(module.name);
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
    }

    void make_sides(const KernelTypes &before, const KernelTypes &after)
    {
        parallel_for(2, threads_, [&](size_t i) {
            Sides &sides = i ? out_.after : out_.before;
            sides.vmlinux = std::make_unique<Side>((i ? after : before).vmlinux, nullptr);
        });
        const size_t split = before.modules.size(), all = split + after.modules.size();
        for (Sides *sides : {&out_.before, &out_.after}) {
            sides->modules.resize(out_.difference.modules.size());
            sides->bases.resize(out_.difference.modules.size());
        }
        parallel_for(all, threads_, [&](size_t i) {
            const bool old = i < split;
            make_module(old ? before.modules[i] : after.modules[i - split],
                        old ? out_.before : out_.after);
        });
    }

    void make_module(const ModuleTypes &module, Sides &sides)
    {
        const auto &names = out_.difference.modules;
        const auto at = static_cast<size_t>(
            std::lower_bound(names.begin(), names.end(), module.name) - names.begin());
        const Side *base = sides.vmlinux.get();
        if (module.btf->base() != base->btf && module.btf->base()) {
            sides.bases[at] = std::make_unique<Side>(module.btf->base(), nullptr);
            base = sides.bases[at].get();
        }
        sides.modules[at] = std::make_unique<Side>(module.btf, module.btf->base() ? base : nullptr);
    }

    static uint32_t count(const Sides &sides)
    {
        uint32_t types = sides.vmlinux->btf->size();
        for (const auto &module : sides.modules)
            types += module ? module->btf->size() : 0;
        return types;
    }

    /// Of types that came or went: those that are elsewhere in the other kernel.
    void drop_moved(std::vector<Delta> &deltas) const
    {
        const auto old_all = everything(out_.before), new_all = everything(out_.after);
        std::erase_if(deltas, [&](const Delta &delta) {
            if ((delta.before && delta.after) || delta.any().space == Space::function ||
                delta.any().space == Space::variable)
                return false;
            const auto &other = delta.before ? new_all : old_all;
            return std::binary_search(other.begin(), other.end(), number_of(delta.any()));
        });
    }
    static uint64_t number_of(const Named &named) { return named.key * 31 + named.definition; }
    std::vector<uint64_t> everything(const Sides &sides) const
    {
        std::vector<uint64_t> all;
        for (uint32_t place = 0; place <= sides.modules.size(); ++place)
            if (const Side *side = sides.at(place))
                for (const Named &named : side->names)
                    if (named.space != Space::function && named.space != Space::variable)
                        all.push_back(number_of(named));
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    void group(std::vector<Delta> &deltas)
    {
        std::stable_sort(deltas.begin(), deltas.end(), [](const Delta &a, const Delta &b) {
            return std::pair(a.identity(), a.place) < std::pair(b.identity(), b.place);
        });
        std::vector<std::span<const Delta>> groups;
        for (size_t begin = 0, end; begin < deltas.size(); begin = end) {
            end = begin + 1;
            while (end < deltas.size() && deltas[end].identity() == deltas[begin].identity())
                ++end;
            groups.emplace_back(&deltas[begin], end - begin);
        }
        std::vector<Change> &changes = out_.difference.changes;
        changes.resize(groups.size());
        parallel_for(groups.size(), threads_, [&](size_t i) { changes[i] = describe(groups[i]); });
        // A name whose shapes differ, but in nothing that is told, has no place in the result.
        std::erase_if(changes,
                      [](const Change &c) { return c.what == What::changed && c.details.empty(); });
        std::sort(changes.begin(), changes.end(), [](const Change &a, const Change &b) {
            return std::tie(a.space, a.name, a.what, a.places) <
                   std::tie(b.space, b.name, b.what, b.places);
        });
    }

    Change describe(std::span<const Delta> same) const
    {
        const Delta &d = same.front();
        Change out{d.any().space,
                   !d.before  ? What::came
                   : !d.after ? What::went
                              : What::changed,
                   name_of(d),
                   "",
                   {},
                   {},
                   {},
                   "",
                   d.one_of_several};
        for (const Delta &delta : same)
            if (out.places.empty() || out.places.back() != delta.place)
                out.places.push_back(delta.place);
        if (d.before)
            out.old_id = d.before->id;
        if (d.after)
            out.new_id = d.after->id;
        if (out.space == Space::function && is_kfunc(d))
            out.space = Space::kfunc;
        if (out.what == What::changed)
            compare_definitions(d, out);
        else if (out.space == Space::function || out.space == Space::kfunc)
            out.definition = prototype_text(*side_of(d).btf, d.any().id);
        out.effects = find_effects(out, is_struct_ops(d));
        return out;
    }

    static const Side &side_of(const Delta &d) { return d.before ? *d.old_side : *d.new_side; }
    static std::string name_of(const Delta &d)
    {
        const Side &side = side_of(d);
        return d.any().space == Space::constant ? std::string(side.name_of(d.any()))
                                                : type_name(*side.btf, d.any().id);
    }
    static bool is_kfunc(const Delta &d)
    {
        return (d.before && d.old_side->is_kfunc(d.before->id)) ||
               (d.after && d.new_side->is_kfunc(d.after->id));
    }
    static bool is_struct_ops(const Delta &d)
    {
        if (d.any().space != Space::type || !d.before)
            return false;
        std::string wrapper = "bpf_struct_ops_" + std::string(d.old_side->name_of(*d.before));
        return !d.old_side->find(key_of(Space::type, wrapper)).empty();
    }

    static void compare_definitions(const Delta &d, Change &out)
    {
        const TypeOf before{*d.old_side, d.before->id}, after{*d.new_side, d.after->id};
        if (out.space == Space::constant) {
            out.details = {compare_constants(before, d.before->index, after, d.after->index)};
            return;
        }
        out.details = compare_types(before, after);
        if (out.space == Space::type)
            out.cause = find_cause(before, after, out.details);
    }

    void modules_as_a_whole()
    {
        Difference &d = out_.difference;
        for (uint32_t i = 0; i < d.modules.size(); ++i) {
            const Side *old = out_.before.modules[i].get(), *now = out_.after.modules[i].get();
            if (old && now) {
                ++d.compared_modules;
                continue;
            }
            const Sides &other = old ? out_.after : out_.before;
            d.module_changes.push_back({d.modules[i], old ? What::went : What::came,
                                        is_in(*other.vmlinux, *(old ? old : now))});
        }
    }

    /// Are most functions of a module in a vmlinux?
    static bool is_in(const Side &vmlinux, const Side &module)
    {
        size_t functions = 0, found = 0;
        for (const Named &named : module.names)
            if (named.space == Space::function) {
                ++functions;
                found += !vmlinux.find(named.key).empty();
            }
        return found * 2 > functions;
    }

    unsigned threads_;
    Compared out_;
};

} // namespace

Compared compare(const KernelTypes &before, const KernelTypes &after, unsigned threads)
{
    return Comparer(before, after, threads).run();
}

} // namespace btflink::kernel::diff
