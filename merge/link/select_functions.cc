// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
//
// Problem. The debug information of a kernel has some fifty instances of each function on average:
// definitions, weak and strong, inline copies in every object that includes a header, clones that
// the optimiser made. BTF has one FUNC per name, or none if a tracing program that relies on the
// prototype could read the wrong registers.
//
// Method. Symbols of the image are grouped by base name (up to the first dot); an instance belongs
// to the group of its own name. Facts of all instances add up; prototypes are equal if their loose
// hashes are. The instance that provides the FUNC is the first at the address of one of the group's
// symbols (so a strong definition beats a weak one), preferring one that kept its parameters. Its
// declaration tags are those of all its instances: clang gives them to one. The prototype of a
// definition that the link passed over, such as a weak one beside a strong one, does not count.
//
// With true signatures, a name that has a clone stands for the clone, with the clone's own
// prototype and symbol name; and an instance at a symbol's address need not agree with instances
// without an address (rule F-TS of pahole, as of 1.32).
//
// With linkage names, an instance whose DECL_TAG names a symbol belongs to the group of that
// symbol: functions of C++ and Rust, of which several may have one name.
//
// Where pahole is plainly wrong we differ:
//   pahole                                             here
//   the last name in the alphabet is never ambiguous   like all others
//   modules: addresses match no symbol                 section and offset are compared
//   modules: equal offsets in two sections are one     they are two
//   modules: an offset of 0 is no address              it is one
//                                                      (in a linked image 0 is none)
//   undefined symbols are functions at address 0       they are none
//
// Cost. One hash lookup per symbol and instance, one sort of the few that matter.
#include "merge/link/select_functions.h"

#include "common/graph/flat_index.h"
#include "common/graph/lists.h"
#include "common/object_btf/linkage_tag.h"

#include <algorithm>
#include <array>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

// Looking up names is waiting for memory: for the name itself, then for its place in the table. So
// this many are hashed, and their places fetched, before the first of them is looked up.
constexpr size_t names_at_once = 16;

struct Candidate : Instance {
    uint32_t next; // candidate of the same group, or none
};
constexpr uint32_t no_candidate = UINT32_MAX;

struct Group {
    std::string_view name;
    std::span<const uint32_t> symbols = {}; // in Image::functions
    uint32_t first = no_candidate, last = no_candidate;
};

/// Of the parameters.
std::vector<std::string_view> names_of(const Object &o, const LinkFunction &f)
{
    std::vector<std::string_view> names;
    const Prototype proto = prototype_of(o, f);
    for (uint32_t slot = 1; slot < proto.slots(); ++slot)
        names.push_back(o.btf.str(proto.param_name(slot)));
    return names;
}

class FunctionSelector
{
public:
    FunctionSelector(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                     const Image &image, const Located &located, FeatureSet features)
        : inputs_(inputs), objects_(objects), image_(image), located_(located), features_(features),
          linkage_names_(features.has(Feature::linkage_names) && features.has(Feature::decl_tag))
    {
        any_tags_ = std::any_of(objects.begin(), objects.end(),
                                [](const Object &o) { return !o.link_tags.empty(); });
    }

    Functions run()
    {
        group_symbols();
        gather_candidates();
        struct Named {
            uint64_t begin; // the first eight characters, which nearly always tell
            uint32_t group;
            std::string_view name; // of the FUNC
        };
        std::vector<Named> order;
        for (uint32_t i = 0; i < groups_.size(); ++i)
            if (groups_[i].first != no_candidate) {
                const std::string_view name = func_name(groups_[i]);
                order.push_back({first_characters(name), i, name});
            }
        std::sort(order.begin(), order.end(), [&](const Named &a, const Named &b) {
            if (a.begin != b.begin)
                return a.begin < b.begin;
            if (a.name != b.name)
                return a.name < b.name;
            const std::string_view symbol = groups_[a.group].name, other = groups_[b.group].name;
            // Programs that look up a name find the function whose symbol that is.
            return (symbol == a.name) != (other == a.name) ? symbol == a.name : symbol < other;
        });
        for (const Named &named : order)
            decide(groups_[named.group]);
        return std::move(out_);
    }

private:
    void group_symbols()
    {
        const auto &symbols = image_.functions;
        index_ = FlatIndex(symbols.size());
        groups_.reserve(symbols.size());
        std::vector<uint32_t> groups;
        groups.reserve(symbols.size());
        look_up(
            symbols.size(), [](size_t) {}, [&](size_t i) { return symbols[i].base; },
            [&](size_t, std::string_view name, uint64_t hash) {
                groups.push_back(group_of(name, hash, true));
            });
        symbols_ = Lists<>::make(groups_.size(), [&](auto put) {
            for (uint32_t i = 0; i < groups.size(); ++i)
                put(groups[i], i);
        });
        for (uint32_t g = 0; g < groups_.size(); ++g)
            groups_[g].symbols = symbols_[g];
    }

    /// Numbers that are in the order of names as far as these differ in them.
    static uint64_t first_characters(std::string_view name)
    {
        uint64_t all = 0;
        for (size_t i = 0; i < sizeof all; ++i)
            all = all << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0u);
        return all;
    }

    /// visit(i, name(i), its hash) for all i below `count`; fetch(i) some time before.
    template <typename Fetch, typename Name, typename Visit>
    void look_up(size_t count, Fetch fetch, Name name, Visit visit) const
    {
        std::array<std::string_view, names_at_once> names;
        std::array<uint64_t, names_at_once> hashes;
        for (size_t begin = 0; begin < count; begin += names_at_once) {
            const size_t some = std::min(names_at_once, count - begin);
            for (size_t i = begin + names_at_once; i < std::min(begin + 2 * names_at_once, count);
                 ++i)
                fetch(i);
            for (size_t k = 0; k < some; ++k) {
                names[k] = name(begin + k);
                hashes[k] = XXH3_64bits(names[k].data(), names[k].size());
                index_.prefetch(hashes[k]);
            }
            for (size_t k = 0; k < some; ++k)
                visit(begin + k, names[k], hashes[k]);
        }
    }

    /// UINT32_MAX: there is none.
    uint32_t group_of(std::string_view name, uint64_t hash, bool make)
    {
        auto same = [&](uint32_t g) { return groups_[g].name == name; };
        if (!make)
            return index_.find(hash, same);
        auto [group, is_new] =
            index_.find_or_add(hash, static_cast<uint32_t>(groups_.size()), same);
        if (is_new)
            groups_.push_back({name});
        return group;
    }

    void gather_candidates()
    {
        for (uint32_t o = 0; o < objects_.size(); ++o) {
            if (located_.not_linked[o])
                continue;
            const Object &object = objects_[o];
            // Bare BTF without an image: there is no symbol table to ask.
            bool exists = image_.kind == ImageKind::combined && !inputs_[object.input].elf;
            const auto &records = object.trailer.functions;
            out_.candidates += records.size();
            auto symbol = [&](size_t r) { return symbol_of({o, static_cast<uint32_t>(r)}); };
            look_up(
                records.size(),
                [&](size_t r) { __builtin_prefetch(object.btf.text(raw(records[r].name))); },
                symbol,
                [&](size_t r, std::string_view name, uint64_t hash) {
                    const uint32_t found = group_of(name, hash, exists);
                    if (found == FlatIndex::none)
                        ++out_.without_symbol;
                    else
                        add_candidate(groups_[found], {o, static_cast<uint32_t>(r)});
                });
        }
    }

    void add_candidate(Group &group, const Instance &instance)
    {
        const auto mine = static_cast<uint32_t>(candidates_.size());
        candidates_.push_back({instance, no_candidate});
        if (group.last == no_candidate)
            group.first = mine;
        else
            candidates_[group.last].next = mine;
        group.last = mine;
    }

    /// Of the DECL_TAG that names its symbol; empty: it has none.
    std::string_view linkage_of(const Instance &c) const
    {
        if (linkage_names_)
            for (auto [func, tag] : tags_of(objects_, c))
                if (auto text = linkage_text(objects_[c.object], tag); !text.empty())
                    return text;
        return {};
    }

    std::string_view symbol_of(const Instance &c) const
    {
        const std::string_view text = linkage_of(c);
        return text.empty() ? name_of_record(c) : linkage_symbol(text);
    }

    std::string_view name_of_record(const Instance &c) const
    {
        return objects_[c.object].btf.str(record(c).name);
    }

    std::string_view func_name(const Group &group) const
    {
        return linkage_names_ ? name_of_record(candidates_[group.first]) : group.name;
    }

    const LinkFunction &record(const Instance &c) const
    {
        return objects_[c.object].trailer.functions[c.record];
    }

    /// The instance's address; functions whose section was discarded have none.
    std::optional<Address> address(const Instance &c) const
    {
        uint32_t index = record(c).pool_index;
        if (!index)
            return std::nullopt;
        const Location &l = located_.pool[c.object][index - 1];
        if (l.state != Location::known)
            return std::nullopt;
        if (image_.kind == ImageKind::linked && l.address.value == 0)
            return std::nullopt;
        return l.address;
    }

    bool is_symbol_at(const Group &group, Address address) const
    {
        for (uint32_t i : group.symbols)
            if (image_.functions[i].address == address)
                return true;
        return false;
    }

    /// The compiler's clones with other parameters: NAME.isra.0, NAME.constprop.0.isra.0 ...
    bool is_clone_at(const Group &group, Address address) const
    {
        for (uint32_t i : group.symbols) {
            const FunctionSymbol &s = image_.functions[i];
            std::string_view suffix = s.name.substr(s.base.size());
            if (s.address == address &&
                (suffix.find(".isra") != suffix.npos || suffix.find(".constprop") != suffix.npos))
                return true;
        }
        return false;
    }

    /// Does its prototype match the parameters passed, as far as the debug information tells?
    bool has_true_signature(const Candidate &c) const
    {
        return features_.has(Feature::true_signature) &&
               objects_[c.object].trailer.features.has(Feature::true_signature);
    }

    /// Its prototype is not what callers pass.
    bool lost_parameters(const Group &group, const Candidate &c) const
    {
        const LinkFunction &f = record(c);
        if (!(f.flags & fn_optimized_param) || has_true_signature(c))
            return false;
        if (f.flags & fn_signature_changed)
            return true;
        auto at = address(c);
        return at && is_clone_at(group, *at);
    }

    /// The name of a clone at `address`, of whatever kind; empty: there is none.
    std::string_view clone_at(const Group &group, Address address) const
    {
        for (uint32_t i : group.symbols) {
            const FunctionSymbol &s = image_.functions[i];
            if (s.address == address && s.name.size() > s.base.size())
                return s.name;
        }
        return {};
    }

    /// The first clone whose arguments are where its true signature says. As in pahole, instances
    /// with an address come first; of these the first answers for the facts of all instances, each
    /// other for its own and those before it.
    std::optional<SelectedFunction> find_clone(const Group &group) const
    {
        uint32_t all = 0, so_far = 0;
        for (uint32_t i = group.first; i != no_candidate; i = candidates_[i].next)
            all |= record(candidates_[i]).flags;
        bool is_first = true;
        for (uint32_t i = group.first; i != no_candidate; i = candidates_[i].next) {
            const Candidate &c = candidates_[i];
            auto at = address(c);
            if (!at)
                continue;
            so_far |= record(c).flags;
            const uint32_t flags = is_first ? all : so_far;
            is_first = false;
            std::string_view name = clone_at(group, *at);
            const bool is_known = !(record(c).flags & fn_reordered) || has_true_signature(c);
            if (name.empty() || !is_known || (flags & (fn_unexpected_reg | fn_uncertain_loc)))
                continue;
            SelectedFunction f{c};
            f.clone = name;
            return f;
        }
        return std::nullopt;
    }

    const Candidate &canonical(const Group &group) const
    {
        const Candidate *at_symbol = nullptr;
        for (uint32_t i = group.first; i != no_candidate; i = candidates_[i].next) {
            const Candidate &c = candidates_[i];
            auto at = address(c);
            if (!at || !is_symbol_at(group, *at))
                continue;
            if (!lost_parameters(group, c))
                return c;
            if (!at_symbol)
                at_symbol = &c;
        }
        return at_symbol ? *at_symbol : candidates_[group.first];
    }

    bool is_at_symbol(const Group &group, const Candidate &c) const
    {
        auto at = address(c);
        return at && is_symbol_at(group, *at);
    }

    /// Code that nobody reaches by the name: `c` has an address, but no symbol of the group does.
    bool was_passed_over(const Group &group, const Candidate &c) const
    {
        return address(c) && !is_at_symbol(group, c);
    }

    /// Assemblers describe every function as `void name()`.
    bool may_be_assembly(const Candidate &c) const
    {
        const Prototype proto = prototype_of(objects_[c.object], record(c));
        return proto.result == 0 && proto.params.empty();
    }

    bool is_ambiguous(const Group &group) const
    {
        const FunctionSymbol *first = nullptr;
        for (uint32_t i : group.symbols) {
            const FunctionSymbol &s = image_.functions[i];
            if (first && first->address != s.address)
                return true;
            first = &s;
        }
        return false;
    }

    FunctionSkip judge(const Group &group, const Candidate &chosen) const
    {
        const bool runs = is_at_symbol(group, chosen);
        const bool exact = features_.has(Feature::true_signature) && runs;
        const bool decides = runs && !may_be_assembly(chosen);
        const LinkFunction *first =
            exact ? &record(chosen) : nullptr; // that others must agree with
        uint32_t flags = 0;
        bool inconsistent = false;
        for (uint32_t i = group.first; i != no_candidate; i = candidates_[i].next) {
            const LinkFunction &f = record(candidates_[i]);
            flags |= f.flags;
            if (exact && !address(candidates_[i]))
                continue; // inlined, where it may have other parameters
            if (decides && was_passed_over(group, candidates_[i]))
                continue;
            if (!first)
                first = &f;
            if (!(flags & (fn_unexpected_reg | fn_reordered)) && f.loose_hash != first->loose_hash)
                inconsistent = true;
        }
        // Of several reasons the last in this order is reported, as by pahole.
        FunctionSkip skip = FunctionSkip::none;
        if (flags & fn_unexpected_reg)
            skip = FunctionSkip::unexpected_reg;
        if (inconsistent && features_.has(Feature::consistent_func))
            skip = FunctionSkip::inconsistent;
        if (flags & fn_uncertain_loc)
            skip = FunctionSkip::uncertain;
        if (flags & fn_reordered)
            skip = FunctionSkip::reordered;
        if (lost_parameters(group, chosen))
            skip = FunctionSkip::optimized;
        if (is_ambiguous(group))
            skip = FunctionSkip::ambiguous;
        return skip;
    }

    void decide(const Group &group)
    {
        if (features_.has(Feature::true_signature))
            if (auto clone = find_clone(group)) {
                name_symbol(group, *clone);
                ++out_.skip_counts[static_cast<size_t>(FunctionSkip::none)];
                if (any_tags_)
                    add_tagged(group, *clone);
                out_.selected.push_back(*clone);
                return;
            }
        const Candidate &chosen = canonical(group);
        FunctionSkip skip = judge(group, chosen);
        ++out_.skip_counts[static_cast<size_t>(skip)];
        if (skip != FunctionSkip::none) {
            out_.skipped.push_back({group.name, skip});
            return;
        }
        SelectedFunction f{chosen};
        name_symbol(group, f);
        if (features_.has(Feature::decl_tag) && features_.has(Feature::decl_tag_kfuncs)) {
            auto kfunc = image_.kfuncs.find(group.name);
            if (kfunc != image_.kfuncs.end()) {
                f.is_kfunc = true;
                f.kfunc_flags = kfunc->second;
            }
        }
        if (features_.has(Feature::attributes) && features_.has(Feature::decl_tag_kfuncs))
            f.arena = arena_of(group.name, chosen);
        if (any_tags_)
            add_tagged(group, f);
        out_.selected.push_back(f);
    }

    void name_symbol(const Group &group, SelectedFunction &f)
    {
        f.linkage = linkage_of(f);
        if (f.linkage.empty() || f.clone.empty())
            return;
        const std::string suffix(f.clone.substr(group.name.size()));
        f.linkage = out_.texts.emplace_back(std::string(f.linkage) + suffix);
        f.clone = out_.texts.emplace_back(std::string(name_of_record(f)) + suffix);
    }

    /// Neither a definition that the link did not choose, nor one with another prototype.
    bool is_instance_of(const Candidate &c, const Instance &chosen) const
    {
        const LinkFunction &mine = record(c), &its = record(chosen);
        if (&mine == &its)
            return true;
        auto at = address(c);
        if (mine.pool_index && (!at || at != address(chosen)))
            return false;
        return mine.loose_hash == its.loose_hash &&
               names_of(objects_[c.object], mine) == names_of(objects_[chosen.object], its);
    }

    void add_tagged(const Group &group, SelectedFunction &f)
    {
        f.tagged_begin = static_cast<uint32_t>(out_.tagged.size());
        for (uint32_t i = group.first; i != no_candidate; i = candidates_[i].next) {
            const Candidate &c = candidates_[i];
            if (!tags_of(objects_, c).empty() && is_instance_of(c, f))
                out_.tagged.push_back(c);
        }
        f.tagged_end = static_cast<uint32_t>(out_.tagged.size());
    }

    uint8_t arena_of(std::string_view name, const Candidate &c)
    {
        constexpr uint32_t first_flag = 13; // KF_ARENA_RET, _ARG1, _ARG2
        auto kfunc = image_.kfuncs.find(name);
        if (kfunc == image_.kfuncs.end())
            return 0;
        uint32_t wanted = kfunc->second >> first_flag & ((1u << arena_slots) - 1);
        if (!wanted)
            return 0;
        const Object &o = objects_[c.object];
        const Prototype proto = prototype_of(o, record(c));
        for (uint32_t slot = 0; slot < arena_slots; ++slot) {
            if (!(wanted >> slot & 1))
                continue;
            if (slot >= proto.slots() || o.btf.kind(TypeId{proto.type(slot)}) != btf::Kind::PTR) {
                out_.no_arena.push_back(name);
                return 0;
            }
        }
        return static_cast<uint8_t>(wanted);
    }

    const std::vector<Input> &inputs_;
    const std::vector<Object> &objects_;
    const Image &image_;
    const Located &located_;
    FeatureSet features_;
    const bool linkage_names_;
    bool any_tags_ = false; // on functions or variables
    FlatIndex index_{0};    // of groups_, by name
    Lists<> symbols_;       // of each group
    std::vector<Group> groups_;
    std::vector<Candidate> candidates_;
    Functions out_;
};

} // namespace

const char *skip_name(FunctionSkip skip)
{
    constexpr const char *names[] = {"kept",      "unexpected_reg", "inconsistent", "uncertain",
                                     "reordered", "optimized",      "ambiguous"};
    static_assert(std::size(names) == static_cast<size_t>(FunctionSkip::count));
    return names[static_cast<size_t>(skip)];
}

std::span<const std::pair<TypeId, TypeId>> tags_of(const std::vector<Object> &objects,
                                                   const Instance &instance)
{
    const Object &o = objects[instance.object];
    TypeId func = o.trailer.functions[instance.record].func;
    if (func == void_id)
        return {};
    return o.tags_of(func);
}

std::string_view linkage_text(const Object &o, TypeId tag)
{
    if (!o.has_trailer || !o.trailer.features.has(Feature::linkage_names))
        return {};
    const btf_type &t = o.btf.type(tag);
    const std::string_view text = o.btf.str(t.name_off);
    const bool is_whole = btf::tail_of(t)[0] == static_cast<uint32_t>(-1);
    return is_whole && !linkage_symbol(text).empty() ? text : std::string_view();
}

std::string_view name_of(const std::vector<Object> &objects, const SelectedFunction &f)
{
    const Object &o = objects[f.object];
    return f.clone.empty() ? o.btf.str(o.trailer.functions[f.record].name) : f.clone;
}

Functions select_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                           const Image &image, const Located &located, FeatureSet features)
{
    return FunctionSelector(inputs, objects, image, located, features).run();
}

} // namespace btflink::merge
