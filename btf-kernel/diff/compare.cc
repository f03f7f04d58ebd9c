// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds the changes between two kernels.
//
// Problem. A kernel has 100,000 names in vmlinux, and more in 4,000 modules. Many names are in
// hundreds of modules.
//
// Method. Each BTF gets a map of names with the shapes of their definitions. Two maps are compared
// name by name, and types are looked at only where shapes differ. The same change in several
// modules (equal name and shapes) is one change at several places. If a name has several
// definitions, those that differ are paired by similarity.
//
// Modules. Definitions may move between modules and vmlinux. If a module loses or gains a name, its
// definition is compared with vmlinux's in the other kernel. But a function, variable or constant
// that vmlinux has unchanged in both kernels did not move: it only has the same name. A type or
// constant that only moved, without a change, is not reported. A function or variable that only
// moved is reported: between a module and vmlinux as a change of vmlinux, between two modules as a
// change of both. A module that only one of the kernels has is reported as a whole, and its names
// are not compared.
//
// Cost. 0.25 s of CPU time for two kernels without modules.
#include "btf-kernel/diff/compare.h"

#include "btf-kernel/diff/types.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_set>

namespace btflink::kernel::diff
{

namespace
{

/// A definition that changed, or that only one side has.
struct Delta {
    Name name;
    const Side *old_side, *new_side;
    const Definition *before, *after; // null if that side has no definition
    uint32_t place;                   // 0: vmlinux; n: Difference::modules[n - 1]
    bool one_of_several;              // the other side has other definitions of the name

    const Side &side() const { return before ? *old_side : *new_side; }
    const Definition &any() const { return before ? *before : *after; }
    /// Equal for deltas of several places that form one change.
    auto identity() const
    {
        return std::tuple(name, before ? before->shape : 0, after ? after->shape : 0,
                          before != nullptr, after != nullptr, one_of_several);
    }
};

/// If the two kernels together have more unpaired definitions of a name than this, the first ones
/// of both kernels are paired. A search for the most similar ones would take too long.
constexpr size_t most_compared = 64;

/// Sorted by shape, each shape once.
using DefinitionList = std::deque<const Definition *>;

/// Definitions of one name, and their side.
struct Definitions {
    const Side *side;
    DefinitionList list;
    bool own; // the place itself has these definitions; false: vmlinux has them, or there are none
};

Shape shape_of(const Definition *definition)
{
    return definition->shape;
}

bool are_equal(std::span<const Definition> a, std::span<const Definition> b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Definition &x, const Definition &y) { return x.shape == y.shape; });
}

Definitions find_definitions(const Sides &sides, uint32_t place, const Name &name)
{
    std::span<const Definition> own = sides.at(place)->find(name);
    Definitions out{sides.at(place), {}, !own.empty()};
    if (own.empty() && place) {
        out.side = sides.vmlinux.get();
        own = out.side->find(name);
    }
    for (const Definition &definition : own)
        out.list.push_back(&definition);
    return out;
}

/// Is the change of a constant reported by itself? Only if, in one of the kernels, its enum has no
/// name and nothing refers to it; other enums are reported as types. A constant that has the same
/// value in both kernels, in any enum, is not reported: it may only have moved.
bool is_about_constant(const Definitions &before, const Definitions &after)
{
    bool in_bare_enum = false;
    for (const Definition *a : before.list)
        in_bare_enum |= a->in_bare_enum;
    for (const Definition *b : after.list) {
        in_bare_enum |= b->in_bare_enum;
        if (std::ranges::binary_search(before.list, b->shape, {}, shape_of))
            return false;
    }
    return in_bare_enum;
}

/// The definitions of `a` whose shapes `b` does not have.
DefinitionList without(const DefinitionList &a, const DefinitionList &b)
{
    DefinitionList out;
    std::ranges::set_difference(a, b, std::back_inserter(out), {}, shape_of, shape_of);
    return out;
}

/// Indexes of the definitions to pair next: the most similar ones, or the first ones if there are
/// too many.
std::pair<ptrdiff_t, ptrdiff_t> most_similar(const Definitions &before, const Definitions &after)
{
    std::pair<ptrdiff_t, ptrdiff_t> best{0, 0};
    const size_t count = before.list.size() + after.list.size();
    if (count == 2 || count > most_compared)
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

/// Drops definitions of vmlinux that the other kernel's vmlinux has, too: a module's function,
/// variable or constant of that name is another one. Types stay: a module that gets its own
/// definition of a type of vmlinux no longer uses vmlinux's.
void drop_staying(const Name &name, const Sides &other, Definitions &of)
{
    if (of.own || name.space == Space::type || name.space == Space::alias)
        return;
    const std::span<const Definition> there = other.vmlinux->find(name);
    std::erase_if(of.list, [&](const Definition *definition) {
        return std::ranges::binary_search(there, definition->shape, {}, &Definition::shape);
    });
}

void match_name(const Name &name, const Sides &old_sides, const Sides &new_sides, uint32_t place,
                std::vector<Delta> &out)
{
    Definitions before = find_definitions(old_sides, place, name),
                after = find_definitions(new_sides, place, name);
    const bool had_any = !before.list.empty(), has_any = !after.list.empty();
    if (name.space == Space::constant && !is_about_constant(before, after))
        return;
    drop_staying(name, new_sides, before);
    drop_staying(name, old_sides, after);
    DefinitionList only_before = without(before.list, after.list);
    after.list = without(after.list, before.list);
    before.list = std::move(only_before);
    while (!before.list.empty() && !after.list.empty()) {
        const auto [i, j] = most_similar(before, after);
        out.push_back({name, before.side, after.side, before.list[i], after.list[j], place, false});
        before.list.erase(before.list.begin() + i);
        after.list.erase(after.list.begin() + j);
    }
    // What is left of vmlinux's definitions is reported when vmlinux is compared, not for a module.
    if (before.own)
        for (const Definition *definition : before.list)
            out.push_back({name, before.side, after.side, definition, nullptr, place, has_any});
    if (after.own)
        for (const Definition *definition : after.list)
            out.push_back({name, before.side, after.side, nullptr, definition, place, had_any});
}

/// Compares all names of a place. Both kernels must have the place, and must outlive `out`.
void match_names(const Sides &before, const Sides &after, uint32_t place, std::vector<Delta> &out)
{
    const Side &a = *before.at(place), &b = *after.at(place);
    auto match = [&](const Name &name) {
        if (!are_equal(a.find(name), b.find(name)))
            match_name(name, before, after, place, out);
    };
    for (const auto &item : a.names)
        match(item.first);
    for (const auto &item : b.names)
        if (a.find(item.first).empty())
            match(item.first);
}

std::vector<std::string> module_names(const KernelTypes &before, const KernelTypes &after)
{
    std::set<std::string> names;
    for (const KernelTypes *kernel : {&before, &after})
        for (const ModuleTypes &module : kernel->modules)
            names.insert(module.name);
    return {names.begin(), names.end()};
}

/// `names`: sorted names of the modules of both kernels, in the order of Sides::modules.
Sides make_sides(const KernelTypes &kernel, const std::vector<std::string> &names)
{
    Sides sides;
    sides.vmlinux = std::make_unique<Side>(kernel.vmlinux, nullptr);
    sides.modules.resize(names.size());
    for (const ModuleTypes &module : kernel.modules) {
        const auto at = std::ranges::lower_bound(names, module.name) - names.begin();
        const Side *base = sides.vmlinux.get();
        if (!module.btf->base())
            base = nullptr;
        else if (module.btf->base() != base->btf) // a distilled one
            base =
                sides.bases.emplace_back(std::make_unique<Side>(module.btf->base(), nullptr)).get();
        sides.modules[static_cast<size_t>(at)] = std::make_unique<Side>(module.btf, base);
    }
    return sides;
}

uint32_t count_types(const Sides &sides)
{
    uint32_t types = sides.vmlinux->btf->size();
    for (const auto &module : sides.modules)
        types += module ? module->btf->size() : 0;
    return types;
}

bool is_symbol(const Name &name)
{
    return name.space == Space::function || name.space == Space::variable;
}

/// The numbers (see number_of()) of all definitions except functions and variables.
std::unordered_set<uint64_t> all_numbers(const Sides &sides)
{
    std::unordered_set<uint64_t> all;
    for (uint32_t place = 0; place <= sides.modules.size(); ++place)
        if (const Side *side = sides.at(place))
            for (const auto &[name, list] : side->names)
                if (!is_symbol(name))
                    for (const Definition &definition : list)
                        all.insert(number_of(name, definition.shape));
    return all;
}

/// Drops types and constants that only moved: one place lost or gained them, and the other kernel
/// has them in another place.
void drop_moved(const ComparedKernels &sides, std::vector<Delta> &deltas)
{
    const auto old_all = all_numbers(sides.before), new_all = all_numbers(sides.after);
    std::erase_if(deltas, [&](const Delta &delta) {
        if ((delta.before && delta.after) || is_symbol(delta.name))
            return false;
        return (delta.before ? new_all : old_all)
            .contains(number_of(delta.name, delta.any().shape));
    });
}

std::string name_of(const Delta &d)
{
    return d.name.space == Space::constant ? std::string(d.name.text)
                                           : type_name(*d.side().btf, d.any().id);
}

bool is_kfunc(const Delta &d)
{
    return (d.before && d.old_side->is_kfunc(d.before->id)) ||
           (d.after && d.new_side->is_kfunc(d.after->id));
}

/// For each struct NAME that programs can implement, the kernel has a struct bpf_struct_ops_NAME.
bool is_struct_ops(const Delta &d)
{
    const std::string wrapper = "bpf_struct_ops_" + std::string(d.name.text);
    return d.name.space == Space::type && d.before &&
           !d.old_side->find({Space::type, wrapper}).empty();
}

void compare_definitions(const Delta &d, Change &out)
{
    const SideType before{*d.old_side, d.before->id}, after{*d.new_side, d.after->id};
    if (out.space == Space::constant) {
        out.details = {compare_constants(before, d.before->index, after, d.after->index)};
        return;
    }
    out.details = compare_types(before, after);
    if (out.space == Space::type)
        out.cause = find_cause(before, after, out.details);
}

Change describe(std::span<const Delta> same)
{
    const Delta &d = same.front();
    Change out{.space = d.name.space,
               .what = !d.before  ? ChangeKind::added
                       : !d.after ? ChangeKind::removed
                                  : ChangeKind::changed,
               .name = name_of(d),
               .one_of_several = d.one_of_several,
               .old_side = d.before ? d.old_side : nullptr,
               .old_id = d.before ? d.before->id : 0};
    for (const Delta &delta : same)
        if (out.places.empty() || out.places.back() != delta.place)
            out.places.push_back(delta.place);
    if (out.space == Space::function && is_kfunc(d))
        out.space = Space::kfunc;
    if (out.what == ChangeKind::changed)
        compare_definitions(d, out);
    else if (out.space == Space::function || out.space == Space::kfunc)
        out.definition = prototype_text(*d.side().btf, d.any().id);
    out.effects = find_effects(out, std::ranges::any_of(same, is_struct_ops));
    return out;
}

/// Makes one change from all deltas with the same identity. The result is sorted.
std::vector<Change> group(std::vector<Delta> deltas)
{
    std::ranges::stable_sort(deltas, [](const Delta &a, const Delta &b) {
        return std::pair(a.identity(), a.place) < std::pair(b.identity(), b.place);
    });
    std::vector<Change> changes;
    for (size_t begin = 0, end; begin < deltas.size(); begin = end) {
        end = begin + 1;
        while (end < deltas.size() && deltas[end].identity() == deltas[begin].identity())
            ++end;
        changes.push_back(describe({&deltas[begin], end - begin}));
    }
    // Shapes may differ in details that are not reported.
    std::erase_if(changes, [](const Change &c) {
        return c.what == ChangeKind::changed && c.details.empty();
    });
    std::ranges::stable_sort(changes, [](const Change &a, const Change &b) {
        return std::tie(a.space, a.name, a.what, a.places, a.definition) <
               std::tie(b.space, b.name, b.what, b.places, b.definition);
    });
    return changes;
}

/// Are most functions of a module in this vmlinux?
bool is_in(const Side &vmlinux, const Side &module)
{
    size_t functions = 0, found = 0;
    for (const auto &[name, list] : module.names)
        if (name.space == Space::function) {
            functions += list.size();
            found += vmlinux.find(name).empty() ? 0 : list.size();
        }
    return found * 2 > functions;
}

void compare_modules_as_a_whole(const KernelTypes &before, const KernelTypes &after,
                                ComparedKernels &out)
{
    Difference &d = out.difference;
    for (uint32_t i = 0; i < d.modules.size(); ++i) {
        const Side *old = out.before.modules[i].get(), *now = out.after.modules[i].get();
        if (old && now) {
            ++d.compared_modules;
            continue;
        }
        const Sides &other = old ? out.after : out.before;
        ModuleChange &change = d.module_changes.emplace_back();
        change.name = d.modules[i];
        change.lost_btf = old;
        if ((old ? after : before).without_btf.contains(change.name)) {
            change.what = ChangeKind::changed;
        } else {
            change.what = old ? ChangeKind::removed : ChangeKind::added;
            change.is_built_in = is_in(*other.vmlinux, *(old ? old : now));
        }
    }
}

} // namespace

DefinitionRef Sides::find_at(uint32_t place, Space space, std::string_view name) const
{
    const Side *side = at(place);
    const auto list = side ? side->find({space, name}) : std::span<const Definition>();
    return list.empty() ? DefinitionRef{}
                        : DefinitionRef{side, list.front().id, place, list.front().shape};
}

DefinitionRef Sides::find(std::initializer_list<Space> spaces, std::string_view name,
                          const Sides *without) const
{
    for (uint32_t place = 0; place <= modules.size(); ++place)
        for (Space space : spaces) {
            if (without && without->find_at(place, space, name))
                continue;
            if (const DefinitionRef found = find_at(place, space, name))
                return found;
        }
    return {};
}

ComparedKernels compare(const KernelTypes &before, const KernelTypes &after)
{
    ComparedKernels out;
    out.difference.old_name = before.name;
    out.difference.new_name = after.name;
    out.difference.modules = module_names(before, after);
    out.before = make_sides(before, out.difference.modules);
    out.after = make_sides(after, out.difference.modules);
    out.difference.old_types = count_types(out.before);
    out.difference.new_types = count_types(out.after);
    std::vector<Delta> deltas;
    for (uint32_t place = 0; place <= out.difference.modules.size(); ++place)
        if (out.before.at(place) && out.after.at(place))
            match_names(out.before, out.after, place, deltas);
    drop_moved(out, deltas);
    out.difference.changes = group(std::move(deltas));
    compare_modules_as_a_whole(before, after, out);
    return out;
}

} // namespace btflink::kernel::diff
