// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Selects the functions that get a FUNC, and the instance that provides each.
//
// Problem. The debug information of a kernel has on average some fifty instances of each function:
// definitions, weak and strong, inline copies in every object that includes a header, clones made
// by the optimiser. BTF has one FUNC per name, or none if a tracing program that relies on the
// prototype could read the wrong registers.
//
// Method. Instances are grouped by symbol (function_groups.cc). The flags of all instances of a
// group are combined; prototypes are equal if their loose hashes are. The FUNC comes from the first
// instance at the address of one of the group's symbols (so a strong definition takes precedence
// over a weak one), preferably from one that kept its parameters. If no instance is at such an
// address, it comes from the group's first instance. The FUNC gets the declaration tags of all
// instances of the same definition, because clang writes tags to one instance only. The prototype
// of a definition at another address than the group's symbols, such as a weak one next to a strong
// one, need not agree (combine() has exceptions). But a definition whose section the link discarded
// has no address, so its prototype must agree, like that of an inline copy.
//
// With true signatures, if find_clone() finds a clone, the FUNC has the clone's prototype and name.
// Otherwise instances without an address, most of which are inlined, need not agree with an
// instance at a symbol's address (as in pahole 1.32).
//
// With linkage names, functions of C++ and Rust are found by their symbols, and several may share a
// name.
//
// Intended differences from pahole:
//   pahole                                             here
//   the name that sorts last is never left out as      it is left out like any other
//     ambiguous (one name, several addresses)            ambiguous name
//   modules: addresses match no symbol                 section and offset are compared
//   modules: equal offsets in two sections are one     they are two
//   modules: an offset of 0 is not an address          it is one
//                                                      (address 0 of a linked image is not)
//   undefined symbols are functions at address 0       they are not functions
//
// Cost. One look-up per symbol and instance, and one sort of the selected functions. Groups are
// decided in the order of their first instances, so memory is read mostly from front to back.
#include "merge/link/select.h"

#include "common/btf/id_symbols.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

/// The input of the selection.
struct SelectionInput {
    const std::vector<Object> &objects;
    const Image &image;
    const Locations &locations;
    FeatureSet features;
    bool linkage_names;
    bool any_tags; // on functions or variables

    const LinkFunction &record(const Instance &c) const { return record_of(objects, c); }
    const FunctionSymbol &symbol(uint32_t i) const { return image.functions[i]; }
    Prototype prototype(const Instance &c) const
    {
        return prototype_of(objects[c.object], record(c));
    }
};

/// The instance's address; nothing if it is unknown, discarded by the linker, or 0 in a linked
/// image.
std::optional<Address> address_of(const SelectionInput &in, const Instance &c)
{
    const uint32_t index = in.record(c).pool_index;
    if (!index)
        return std::nullopt;
    const Location &l = in.locations.pool[c.object][index - 1];
    if (l.state != Location::known)
        return std::nullopt;
    Address address = l.address;
    if (in.image.kind == ImageKind::linked) {
        // Pools by the gcc plugin have the Thumb bit of 32-bit arm; Symbol::value does not.
        if (in.image.elf->head.e_machine == EM_ARM)
            address.value &= ~uint64_t{1};
        if (address.value == 0)
            return std::nullopt;
    }
    return address;
}

/// Is it the symbol of a clone that may have other parameters: NAME.isra.0, NAME.constprop.0 ...?
bool has_other_parameters(const FunctionSymbol &s)
{
    const std::string_view suffix = s.name.substr(s.base.size());
    return suffix.find(".isra") != suffix.npos || suffix.find(".constprop") != suffix.npos;
}

/// The symbols of a group that are at one address.
struct SymbolPlace {
    Address address;
    bool has_other_parameters; // one of them has
    std::string_view clone;    // name of the first clone, of whatever kind; empty: there is none

    auto key() const { return std::pair(address.section, address.value); }
};

/// A group, and its symbols by address. They are sorted, because many instances may be looked up
/// among many symbols.
struct PlacedGroup : FunctionGroup {
    std::vector<SymbolPlace> places; // sorted, each address once

    void assign(const SelectionInput &in, const FunctionGroup &group)
    {
        FunctionGroup::operator=(group);
        places.clear();
        for (uint32_t i : symbols) {
            const FunctionSymbol &s = in.symbol(i);
            const bool is_clone = s.name.size() > s.base.size();
            places.push_back(
                {s.address, has_other_parameters(s), is_clone ? s.name : std::string_view()});
        }
        if (places.size() < 2)
            return;
        std::ranges::stable_sort(places, {}, &SymbolPlace::key);
        auto last = places.begin();
        for (auto next = last + 1; next != places.end(); ++next) {
            if (next->address != last->address) {
                *++last = *next;
                continue;
            }
            last->has_other_parameters |= next->has_other_parameters;
            if (last->clone.empty())
                last->clone = next->clone;
        }
        places.erase(last + 1, places.end());
    }

    /// The symbols at the address of an instance; null: there are none.
    const SymbolPlace *place_of(const SelectionInput &in, const Instance &c) const
    {
        const auto at = address_of(in, c);
        if (!at)
            return nullptr;
        auto place = std::ranges::lower_bound(places, SymbolPlace{*at, false, {}}.key(), {},
                                              &SymbolPlace::key);
        return place != places.end() && place->address == *at ? &*place : nullptr;
    }
};

bool is_at_symbol(const SelectionInput &in, const PlacedGroup &group, const Instance &c)
{
    return group.place_of(in, c);
}

/// Do both the result and the instance's object have the feature true_signature? Then parameters
/// that are not passed are no reason to leave the function out, and find_clone() accepts reordered
/// ones. (judge() does not.)
bool uses_true_signatures(const SelectionInput &in, const Instance &c)
{
    return in.features.has(Feature::true_signature) &&
           in.objects[c.object].trailer.features.has(Feature::true_signature);
}

/// Does the prototype have a parameter that callers do not pass? False if uses_true_signatures():
/// then functions with such a parameter are kept.
bool lost_parameters(const SelectionInput &in, const PlacedGroup &group, const Instance &c)
{
    const uint32_t flags = in.record(c).flags;
    if (!(flags & fn_optimized_param) || uses_true_signatures(in, c))
        return false;
    if (flags & fn_signature_changed)
        return true;
    const SymbolPlace *place = group.place_of(in, c);
    return place && place->has_other_parameters;
}

/// The first instance at a clone's symbol whose arguments are where its true signature says. As in
/// pahole, the first instance with an address is judged by the flags of all instances. Each later
/// one is judged by its own flags and those of the earlier instances with an address.
std::optional<SelectedFunction> find_clone(const SelectionInput &in, const PlacedGroup &group)
{
    uint32_t all_flags = 0, flags_so_far = 0;
    for (const Instance &c : group.instances)
        all_flags |= in.record(c).flags;
    bool is_first = true;
    for (const Instance &c : group.instances) {
        if (!address_of(in, c))
            continue;
        flags_so_far |= in.record(c).flags;
        const uint32_t flags = is_first ? all_flags : flags_so_far;
        is_first = false;
        const SymbolPlace *place = group.place_of(in, c);
        const bool knows_order =
            !(in.record(c).flags & fn_reordered) || uses_true_signatures(in, c);
        if (!place || place->clone.empty() || !knows_order ||
            (flags & (fn_unexpected_reg | fn_uncertain_loc)))
            continue;
        SelectedFunction f{c};
        f.clone = place->clone;
        return f;
    }
    return std::nullopt;
}

/// The instance that provides the FUNC.
const Instance &choose_instance(const SelectionInput &in, const PlacedGroup &group)
{
    const Instance *at_symbol = nullptr;
    for (const Instance &c : group.instances) {
        if (!is_at_symbol(in, group, c))
            continue;
        if (!lost_parameters(in, group, c))
            return c;
        if (!at_symbol)
            at_symbol = &c;
    }
    return at_symbol ? *at_symbol : group.instances[0];
}

/// Has the instance an address at which the group has no symbol? Then its name belongs to other
/// code, such as the strong definition's.
bool is_superseded(const SelectionInput &in, const PlacedGroup &group, const Instance &c)
{
    return address_of(in, c) && !is_at_symbol(in, group, c);
}

/// Assemblers describe every function as `void name()`.
bool may_be_assembly(const SelectionInput &in, const Instance &c)
{
    const Prototype proto = in.prototype(c);
    return proto.result == 0 && proto.params.empty();
}

/// The combined information of a group's instances.
struct GroupFacts {
    uint32_t flags = 0;        // each that at least one instance has
    bool inconsistent = false; // two prototypes that should agree differ
};

GroupFacts combine(const SelectionInput &in, const PlacedGroup &group, const Instance &chosen)
{
    // False if no instance is at a symbol. Then no definition counts as replaced: all must agree.
    const bool is_linked = is_at_symbol(in, group, chosen);
    const bool chosen_decides = in.features.has(Feature::true_signature) && is_linked;
    const LinkFunction *reference =
        chosen_decides ? &in.record(chosen) : nullptr; // others must agree with it
    GroupFacts facts;
    for (const Instance &c : group.instances) {
        const LinkFunction &f = in.record(c);
        facts.flags |= f.flags;
        if (chosen_decides && !address_of(in, c))
            continue; // usually inlined, perhaps with other parameters
        // A replaced definition does not count, unless the chosen one is `void name()`: that may be
        // an assembler's, which says nothing about the parameters. Then the two must agree.
        if (is_linked && is_superseded(in, group, c) && !may_be_assembly(in, chosen))
            continue;
        if (!reference)
            reference = &f;
        // With these flags the function is left out anyway. A comparison would only change the
        // reported reason.
        if (!(facts.flags & (fn_unexpected_reg | fn_reordered)) &&
            f.loose_hash != reference->loose_hash)
            facts.inconsistent = true;
    }
    return facts;
}

/// If there are several reasons to leave the function out, returns the one that is checked last, as
/// pahole does.
FunctionSkip judge(const SelectionInput &in, const PlacedGroup &group, const Instance &chosen)
{
    const auto [flags, inconsistent] = combine(in, group, chosen);
    FunctionSkip skip = FunctionSkip::none;
    if (flags & fn_unexpected_reg)
        skip = FunctionSkip::unexpected_reg;
    if (inconsistent && in.features.has(Feature::consistent_func))
        skip = FunctionSkip::inconsistent;
    if (flags & fn_uncertain_loc)
        skip = FunctionSkip::uncertain;
    if (flags & fn_reordered)
        skip = FunctionSkip::reordered;
    if (lost_parameters(in, group, chosen))
        skip = FunctionSkip::optimized;
    if (group.places.size() > 1)
        skip = FunctionSkip::ambiguous;
    return skip;
}

std::vector<std::string_view> parameter_names(const SelectionInput &in, const Instance &c)
{
    std::vector<std::string_view> names;
    const Prototype proto = in.prototype(c);
    for (uint32_t slot = 1; slot < proto.slots(); ++slot)
        names.push_back(in.objects[c.object].btf.str(proto.param_name(slot)));
    return names;
}

/// Do an instance's parameters have the same names as those of the chosen instance? Any number of
/// instances may share a FUNC_PROTO, so the answer for each FUNC_PROTO is kept.
class NameComparer
{
public:
    NameComparer(const SelectionInput &in, const Instance &chosen)
        : in_(in), wanted_(parameter_names(in, chosen))
    {
    }

    bool agrees(const Instance &c)
    {
        const TypeId proto = func_proto_of(in_.objects[c.object], in_.record(c));
        if (proto == void_id)
            return parameter_names(in_, c) == wanted_;
        auto [known, is_new] = known_.try_emplace({c.object, proto});
        if (is_new)
            known->second = parameter_names(in_, c) == wanted_;
        return known->second;
    }

private:
    const SelectionInput &in_;
    const std::vector<std::string_view> wanted_;
    std::map<std::pair<uint32_t, TypeId>, bool> known_;
};

/// Are these instances of one definition, as far as addresses show, and do their prototypes agree?
/// Names of parameters are not compared.
bool is_same_definition(const SelectionInput &in, const Instance &c, const Instance &chosen)
{
    const LinkFunction &a = in.record(c), &b = in.record(chosen);
    if (&a == &b)
        return true;
    const auto at = address_of(in, c);
    if (a.pool_index && (!at || at != address_of(in, chosen)))
        return false;
    return a.loose_hash == b.loose_hash;
}

void set_tagged(const SelectionInput &in, const FunctionGroup &group, SelectedFunction &f,
                Functions &out)
{
    f.tagged_begin = static_cast<uint32_t>(out.tagged.size());
    std::optional<NameComparer> names; // usually no instance has tags
    for (const Instance &c : group.instances) {
        if (tags_of(in.objects, c).empty() || !is_same_definition(in, c, f))
            continue;
        if (!names)
            names.emplace(in, f);
        if (names->agrees(c))
            out.tagged.push_back(c);
    }
    f.tagged_end = static_cast<uint32_t>(out.tagged.size());
}

/// The value for SelectedFunction::arena, from the kfunc's flags. If the flags name a slot that is
/// not a pointer, lists the kfunc in bad_arenas and returns 0.
uint8_t find_arena(const SelectionInput &in, std::string_view name, const Instance &c,
                   uint32_t flags, Functions &out)
{
    const uint32_t wanted = flags >> kf_arena_shift & ((1u << arena_slots) - 1);
    const Prototype proto = in.prototype(c);
    for (uint32_t slot = 0; slot < arena_slots; ++slot) {
        if (!(wanted >> slot & 1))
            continue;
        if (slot >= proto.slots() ||
            in.objects[c.object].btf.kind(TypeId{proto.type(slot)}) != btf::Kind::PTR) {
            out.bad_arenas.push_back(name);
            return 0;
        }
    }
    return static_cast<uint8_t>(wanted);
}

void set_kfunc(const SelectionInput &in, std::string_view name, SelectedFunction &f, Functions &out)
{
    const auto kfunc = in.image.kfuncs.find(name);
    if (kfunc == in.image.kfuncs.end() || !in.features.has(Feature::decl_tag_kfuncs))
        return;
    if (in.features.has(Feature::decl_tag)) {
        f.is_kfunc = true;
        f.kfunc_flags = kfunc->second;
    }
    if (in.features.has(Feature::attributes))
        f.arena = find_arena(in, name, f, kfunc->second, out);
}

void set_linkage(const SelectionInput &in, const FunctionGroup &group, SelectedFunction &f,
                 Functions &out)
{
    if (in.linkage_names)
        f.linkage = linkage_text(in.objects, f);
    if (f.linkage.empty() || f.clone.empty())
        return;
    // The FUNC has the source's name, and its tag the mangled symbol, both with the clone's suffix.
    const std::string suffix(f.clone.substr(group.name.size()));
    f.linkage = out.texts.emplace_back(std::string(f.linkage) + suffix);
    f.clone = out.texts.emplace_back(std::string(source_name(in.objects, f)) + suffix);
}

/// Selects or skips the function of a group. Returns whether the function was selected.
bool decide(const SelectionInput &in, const PlacedGroup &group, Functions &out)
{
    std::optional<SelectedFunction> chosen;
    if (in.features.has(Feature::true_signature))
        chosen = find_clone(in, group);
    if (!chosen) {
        chosen.emplace(SelectedFunction{choose_instance(in, group)});
        if (const FunctionSkip skip = judge(in, group, *chosen); skip != FunctionSkip::none) {
            ++out.skip_counts[static_cast<size_t>(skip)];
            out.skipped.push_back({group.name, skip});
            return false;
        }
        set_kfunc(in, group.name, *chosen, out);
    }
    ++out.skip_counts[static_cast<size_t>(FunctionSkip::none)];
    chosen->func_proto = func_proto_of(in.objects[chosen->object], in.record(*chosen));
    set_linkage(in, group, *chosen, out);
    if (in.any_tags)
        set_tagged(in, group, *chosen, out);
    out.selected.push_back(*chosen);
    return true;
}

/// Removes the FUNCs that BTF of other tools has for clones, if a group has selected the same
/// clone. `groups`: the group of each selected function.
void remove_known_clones(std::vector<const FunctionGroup *> &groups, Functions &out)
{
    std::unordered_set<std::string_view> clones;
    for (const SelectedFunction &f : out.selected)
        if (!f.clone.empty())
            clones.insert(f.clone);
    if (clones.empty())
        return;
    // The group of such a FUNC is named after the clone. It has no symbols, because the symbols of
    // clones are in the groups of their base names.
    auto is_known = [&](size_t i) {
        return out.selected[i].clone.empty() && groups[i]->symbols.empty() &&
               clones.contains(groups[i]->name);
    };
    size_t kept = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
        if (is_known(i))
            continue;
        groups[kept] = groups[i];
        out.selected[kept++] = out.selected[i];
    }
    groups.resize(kept);
    out.selected.resize(kept);
    out.skip_counts[static_cast<size_t>(FunctionSkip::none)] = static_cast<uint32_t>(kept);
}

/// Sorts the selected functions by name, clones by the name without suffix. `groups`: the group of
/// each function.
void sort_by_name(const SelectionInput &in, const std::vector<const FunctionGroup *> &groups,
                  std::vector<SelectedFunction> &selected)
{
    struct NamedFunction {
        std::string_view name, symbol;
        uint32_t number; // in `selected`
    };
    std::vector<NamedFunction> order;
    order.reserve(selected.size());
    for (uint32_t i = 0; i < selected.size(); ++i) {
        const std::string_view symbol = groups[i]->name;
        const std::string_view name =
            in.linkage_names ? source_name(in.objects, groups[i]->instances[0]) : symbol;
        order.push_back({name, symbol, i});
    }
    std::sort(order.begin(), order.end(), [](const NamedFunction &a, const NamedFunction &b) {
        if (a.name != b.name)
            return a.name < b.name;
        // Programs that look up a name must find the function whose symbol has that name.
        const bool a_first = a.symbol == a.name, b_first = b.symbol == b.name;
        return a_first != b_first ? a_first : a.symbol < b.symbol;
    });
    std::vector<SelectedFunction> sorted;
    sorted.reserve(selected.size());
    for (const NamedFunction &named : order)
        sorted.push_back(selected[named.number]);
    selected = std::move(sorted);
}

} // namespace

const char *skip_name(FunctionSkip skip)
{
    constexpr const char *names[] = {"kept",      "unexpected_reg", "inconsistent", "uncertain",
                                     "reordered", "optimized",      "ambiguous"};
    static_assert(std::size(names) == static_cast<size_t>(FunctionSkip::count));
    return names[static_cast<size_t>(skip)];
}

Functions select_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                           const Image &image, const Locations &locations, FeatureSet features)
{
    const bool linkage_names =
        features.has(Feature::linkage_names) && features.has(Feature::decl_tag);
    const bool any_tags =
        std::ranges::any_of(objects, [](const Object &o) { return !o.link_tags.empty(); });
    const SelectionInput in{objects, image, locations, features, linkage_names, any_tags};
    const FunctionGroups groups = group_functions(inputs, objects, image, locations, linkage_names);
    Functions out;
    std::vector<const FunctionGroup *> of_selected;
    PlacedGroup placed;
    for (const FunctionGroup &group : groups.list) {
        placed.assign(in, group);
        if (decide(in, placed, out))
            of_selected.push_back(&group);
    }
    remove_known_clones(of_selected, out);
    sort_by_name(in, of_selected, out.selected);
    std::ranges::sort(out.skipped, {}, &SkippedFunction::name);
    std::ranges::sort(out.bad_arenas);
    return out;
}

} // namespace btflink::merge
