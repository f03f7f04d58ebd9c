// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out why a module has a type that vmlinux also has, and why one BTF has two types of the
// same name (TwoTypes).
//
// Problem. Split BTF should refer to types of the base. If a module has its own `struct
// task_struct`, this is a different type for the kernel: programs cannot pass a task to the
// module's kfuncs, and programs that read the module's type are refused. One difference anywhere
// among the types that task_struct reaches is enough for this. Users need to know where it is.
//
// Method. Each struct, union and enum of the module is compared with vmlinux's type of the same
// name and kind: first as by btf-kernel diff, which describes differences best, then position by
// position, as the kernel's tools do to find equal types. If the two differ, the module's type is a
// clash. Both comparisons look only at the names of the types to which the two refer. So these
// types are compared next, pair by pair, through pointers, typedefs and unnamed types. The
// comparison of such a pair ends in one of three ways:
//  - The two have the same id: nothing differs.
//  - They are structs, unions or enums with the same name: an edge leads to that pair.
//  - They differ: the module's type from which the comparison began is a clash, too.
// The root of a type is the nearest clash along edges. A type without a root is a copy. TwoTypes
// compares its two types in the same way, then the pairs along edges, up to the first difference.
//
// Cost. Linear in the module's own types: a Budget ends searches that would take longer. Only
// forged BTF needs more than the budget: many types with one name, or a large unnamed type that
// many types share.
#include "btf-kernel/check/check_kernel.h"

#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/types.h"
#include "common/graph/graphs.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_pairs = 10'000; // pairs that TwoTypes::why() compares
constexpr size_t most_compared = 64;  // types of vmlinux with which a type is compared

bool may_be_redefined(const btf_type &t)
{
    const btf::Kind kind = btf::kind_of(t);
    return t.name_off && (btf::is_composite(kind) || btf::is_enum(kind)) && !btf::is_declaration(t);
}

/// Do the types differ only in the ids to which they refer?
bool are_equal_except_ids(const Btf &btf, const btf_type &a, const btf_type &b)
{
    if (a.info != b.info)
        return false;
    bool equal = true;
    const uint32_t *other = &b.name_off;
    btf::for_each_word(a, [&](btf::Word role, uint32_t word) {
        if (role == btf::Word::name)
            equal = equal && (word == *other || btf.str(word) == btf.str(*other));
        else if (role != btf::Word::ref)
            equal = equal && word == *other;
        other += other == &b.name_off ? 2 : 1; // after the name comes the word info
    });
    return equal;
}

/// Computes the number of words in a type and in the unnamed types and typedefs that it contains,
/// or to which it points. Types that are used several times count as often. The cost of
/// diff::compare_types() is in proportion to this number.
class Weights
{
public:
    static constexpr uint64_t endless = UINT32_MAX; // of an unnamed type that contains itself

    explicit Weights(const Btf &btf) : btf_(btf) {}

    uint64_t of(TypeId id)
    {
        auto expand = [&](uint32_t at, auto need) {
            for_each_part(at, [&](uint32_t part) { need(part); });
        };
        auto close = [&](uint32_t at) {
            uint64_t sum = btf::words_of(btf_.type(TypeId{at}));
            for_each_part(at, [&](uint32_t part) { sum += known_[part].weight; });
            known_[at].weight = std::min(sum, endless);
        };
        auto state = [&](uint32_t at) -> uint8_t & { return known_[at].state; };
        post_order(raw(id), state, stack_, expand, close);
        return known_[raw(id)].weight;
    }

private:
    template <typename Visit>
    void for_each_part(uint32_t id, Visit visit)
    {
        btf::for_each_type_id(btf_.type(TypeId{id}), [&](uint32_t part) {
            if (part && !btf::has_tag_name(btf_.type(TypeId{part})))
                visit(part);
        });
    }

    struct Known {
        uint8_t state = walk::fresh;
        uint64_t weight = endless;
    };
    const Btf &btf_;
    std::unordered_map<uint32_t, Known> known_;
    std::vector<uint32_t> stack_;
};

/// How many words of types a search may still compare.
class Budget
{
public:
    /// `btf`: the types that are searched.
    explicit Budget(const Btf &btf) : left_(least + times * btf.words().size()) {}

    /// Returns false, and spends nothing, if not enough is left.
    bool spend(uint64_t words)
    {
        if (words > left_)
            return false;
        left_ -= words;
        return true;
    }
    uint64_t left() const { return left_; }

private:
    // Modules of Debian's kernels need at most 7 words for each of their own.
    static constexpr uint64_t least = 1'000'000, times = 64;
    uint64_t left_;
};

/// Two types that are compared: `own` of the module, `base` of vmlinux; in TwoTypes both of one
/// BTF.
struct TypePair {
    TypeId own, base;
    auto operator<=>(const TypePair &) const = default;
};

/// The result of comparing two types.
struct TypeDifference {
    std::string text = {};            // empty if only edges may lead to a difference
    bool declared = false;            // `text` says that one side only declares a type
    std::vector<TypePair> edges = {}; // structs, unions and enums that the two refer to
};

class PairComparer
{
public:
    /// `base`: the Side of own's base; null if `own` has no base.
    PairComparer(const diff::Side &own, const diff::Side *base)
        : own_(own), base_(base), btf_(*own.btf), weights_(btf_), budget_(btf_)
    {
    }

    /// Is the budget too small even for a pair of the smallest types?
    bool has_spent_budget() const { return budget_.left() < words_for_a_pair + 2 * 3; }

    /// `between`: what is compared, for messages ("vmlinux -> here").
    TypeDifference run(TypePair pair, const std::string &between)
    {
        difference_ = {};
        std::vector<TypePair> open{pair};
        std::set<TypePair> seen{pair};
        while (!open.empty() && difference_.text.empty()) {
            const TypePair at = open.back();
            open.pop_back();
            compare(at, at.own != pair.own);
            if (!difference_.text.empty())
                break;
            std::vector<TypeId> others;
            btf::for_each_type_id(btf_.type(at.base),
                                  [&](uint32_t id) { others.push_back(TypeId{id}); });
            auto other = others.begin();
            btf::for_each_type_id(btf_.type(at.own), [&](uint32_t id) {
                if (const TypePair next{TypeId{id}, *other++};
                    !settle(next) && seen.insert(next).second)
                    open.push_back(next);
            });
        }
        if (!difference_.text.empty())
            difference_.text = between + ": " + difference_.text;
        return std::move(difference_);
    }

private:
    void differ(const std::string &what)
    {
        if (difference_.text.empty())
            difference_.text = what;
    }

    diff::SideType at(TypeId id) const { return {id < btf_.first_id() ? *base_ : own_, raw(id)}; }

    /// Compares two types without the types to which they refer. If nothing differs, both refer to
    /// equally many types.
    void compare(TypePair pair, bool is_inside)
    {
        const btf_type &own = btf_.type(pair.own), &base = btf_.type(pair.base);
        if (!budget_.spend(btf::words_of(own) + btf::words_of(base) + words_for_a_pair))
            return differ(not_compared);
        const bool is_equal = are_equal_except_ids(btf_, own, base);
        if (own.name_off && btf::kind_of(own) != btf::Kind::TYPE_TAG &&
            !(is_equal && definition(pair.own) == definition(pair.base)))
            describe(pair, is_inside);
        if (!is_equal)
            differ(difference_of(own, base));
    }

    diff::Shape definition(TypeId id) const { return at(id).side.shapes.definition(raw(id)); }

    void describe(TypePair pair, bool is_inside)
    {
        const uint64_t words = weights_.of(pair.own) + weights_.of(pair.base) + words_for_a_pair;
        if (!budget_.spend(words * words_per_described))
            return differ(not_compared);
        const auto lines = diff::detail_lines(diff::compare_types(at(pair.base), at(pair.own)));
        if (!lines.empty())
            differ((is_inside ? diff::type_name(btf_, raw(pair.own)) + ": " : "") + lines.front());
    }

    std::vector<std::string_view> names_in(const btf_type &t) const
    {
        std::vector<std::string_view> names;
        btf::for_each_str_off(t, [&](uint32_t name) { names.push_back(btf_.str(name)); });
        return names;
    }

    /// How two types of one kind differ if describe() finds nothing.
    std::string difference_of(const btf_type &own, const btf_type &base) const
    {
        if (names_in(own) != names_in(base)) {
            if (btf::is_composite(btf::kind_of(own)))
                return "members are in another order or grouped differently";
            if (btf::is_enum(btf::kind_of(own)))
                return "enumerators are in another order";
            if (btf::kind_of(own) == btf::Kind::FUNC_PROTO)
                return "parameters of a function type have other names";
        }
        return strf("kind %s: encoded differently", btf::kind_info(own).name);
    }

    /// Decides, without a look into them, about two types to which the compared types refer at the
    /// same place: records an edge, a difference, or nothing if they are equal. Returns false if
    /// only a look into them can decide.
    bool settle(TypePair pair)
    {
        const TypeId own = pair.own, base = pair.base;
        if (own == base)
            return true;
        if (own == void_id || base == void_id) {
            differ("refers to another type");
            return true;
        }
        const btf_type &t = btf_.type(own), &u = btf_.type(base);
        const btf::Kind kind = btf::kind_of(t), other = btf::kind_of(u);
        auto name = [&] { return diff::type_name(btf_, raw(own)); };
        const bool is_declared = btf::is_declaration(t);
        if (is_declared != btf::is_declaration(u)) {
            difference_.declared |= difference_.text.empty();
            differ(name() + (is_declared ? " is only declared" : " is defined, not only declared"));
        } else if (btf_.name(own) != btf_.name(base) && t.name_off && u.name_off) {
            differ("refers to " + name() + ", not to " + diff::type_name(btf_, raw(base)));
        } else if (kind != other && btf::is_enum(kind) && btf::is_enum(other) && t.name_off) {
            differ(name() + ": " + btf_.kind_name(base) + " -> " + btf_.kind_name(own));
        } else if (kind != other || !t.name_off != !u.name_off) {
            differ("refers to another type");
        } else if (own < btf_.first_id() && t.name_off && kind != btf::Kind::TYPE_TAG) {
            // There are two types with this name: `own` is in the base, the other one there or (in
            // TwoTypes) in the split BTF.
            differ("refers to another " + name());
        } else if (may_be_redefined(t)) {
            difference_.edges.push_back(pair);
        } else {
            return false;
        }
        return true;
    }

    static constexpr const char *not_compared = "not compared, because it would take too long";
    // What a pair costs besides its words; what a word costs in describe().
    static constexpr uint64_t words_for_a_pair = 16, words_per_described = 16;

    const diff::Side &own_, *base_;
    const Btf &btf_; // of own_
    Weights weights_;
    Budget budget_;
    TypeDifference difference_;
};

/// A redefinition, and how the module's type differs from vmlinux's.
struct Entry {
    Redefinition result;
    TypeDifference difference;
    size_t root = SIZE_MAX; // index of the clash that makes it differ; SIZE_MAX: none
};

/// Finds types of vmlinux by kind and name.
class Candidates
{
public:
    explicit Candidates(const NameIndex &names) : names_(names) {}

    /// The first types, at most most_compared, of this kind and name.
    const std::vector<TypeId> &of(btf::Kind kind, std::string_view name)
    {
        auto [at, is_new] = known_.try_emplace({kind, name});
        if (!is_new)
            return at->second;
        for (TypeId id : names_.of(name))
            if (names_.btf().kind(id) == kind && may_be_redefined(names_.btf().type(id)) &&
                at->second.size() < most_compared)
                at->second.push_back(id);
        return at->second;
    }

private:
    const NameIndex &names_;
    std::map<std::pair<btf::Kind, std::string_view>, std::vector<TypeId>> known_;
};

/// The types of the module that have the name and kind of a type of vmlinux, by id. Entry::root is
/// not set yet. If vmlinux has several such types, the first one without a difference counts, or
/// else the first.
std::vector<Entry> compare_all(const diff::Side &module, const diff::Side &vmlinux,
                               const NameIndex &names)
{
    const Btf &split = *module.btf;
    PairComparer comparer(module, &vmlinux);
    Candidates candidates(names);
    std::vector<Entry> entries;
    for (TypeId id : split.ids()) {
        if (!may_be_redefined(split.type(id)))
            continue;
        std::optional<Entry> best;
        for (TypeId base : candidates.of(split.kind(id), split.name(id))) {
            Entry entry{{id, base, {}, {}, {}}, comparer.run({id, base}, "vmlinux -> here")};
            const bool differs = !entry.difference.text.empty();
            if (!best || !differs)
                best = std::move(entry);
            if (!differs || comparer.has_spent_budget())
                break;
        }
        if (best)
            entries.push_back(std::move(*best));
    }
    return entries;
}

/// Sets Entry::root. Walks breadth first from all clashes, against the edges, so that the nearest
/// clash reaches each entry first.
void find_roots(std::vector<Entry> &entries)
{
    std::unordered_map<uint32_t, size_t> places; // by own id
    for (size_t i = 0; i < entries.size(); ++i)
        places[raw(entries[i].result.own)] = i;
    std::vector<std::vector<size_t>> users(entries.size());
    std::deque<size_t> next;
    for (size_t i = 0; i < entries.size(); ++i) {
        for (const auto &[id, base] : entries[i].difference.edges)
            if (auto it = places.find(raw(id)); it != places.end())
                users[it->second].push_back(i);
        if (!entries[i].difference.text.empty()) {
            entries[i].root = i;
            next.push_back(i);
        }
    }
    for (; !next.empty(); next.pop_front())
        for (size_t user : users[next.front()])
            if (entries[user].root == SIZE_MAX) {
                entries[user].root = entries[next.front()].root;
                next.push_back(user);
            }
}

} // namespace

std::vector<Redefinition> find_redefinitions(const std::shared_ptr<const Btf> &split,
                                             const diff::Side &vmlinux, const NameIndex &names)
{
    std::vector<Entry> entries = compare_all(diff::Side(split, &vmlinux), vmlinux, names);
    find_roots(entries);
    std::vector<Redefinition> out;
    for (size_t i = 0; i < entries.size(); ++i) {
        Redefinition &r = out.emplace_back(entries[i].result);
        if (entries[i].root == SIZE_MAX)
            continue;
        const Entry &root = entries[entries[i].root];
        r.cause = root.difference.text;
        r.declared = root.difference.declared;
        r.why = Redefinition::Why::clash;
        if (&root != &entries[i]) {
            r.why = Redefinition::Why::derived;
            r.root = diff::type_name(*split, raw(root.result.own));
        }
    }
    return out;
}

/// What TwoTypes keeps from one call to the next.
struct TwoTypes::State {
    std::optional<diff::Side> made_base, made_own; // if the caller has none
    std::optional<PairComparer> comparer;
};

TwoTypes::TwoTypes(const Btf &btf, const diff::Side *vmlinux) : btf_(btf), vmlinux_(vmlinux) {}
TwoTypes::~TwoTypes() = default;

TwoTypes::State &TwoTypes::state()
{
    if (state_)
        return *state_;
    state_ = std::make_unique<State>();
    auto side_of = [&](const Btf &btf, std::optional<diff::Side> &made, const diff::Side *base) {
        if (vmlinux_ && vmlinux_->btf.get() == &btf)
            return vmlinux_;
        made.emplace(std::shared_ptr<const Btf>(std::shared_ptr<void>(), &btf), base);
        return static_cast<const diff::Side *>(&*made);
    };
    const diff::Side *base =
        btf_.base() ? side_of(*btf_.base(), state_->made_base, nullptr) : nullptr;
    state_->comparer.emplace(*side_of(btf_, state_->made_own, base), base);
    return *state_;
}

std::string TwoTypes::why(TypeId a, TypeId b)
{
    PairComparer &comparer = *state().comparer;
    std::vector<TypePair> pairs{{b, a}};
    std::set<TypePair> seen{{b, a}};
    for (size_t i = 0; i < pairs.size() && i < most_pairs; ++i) {
        const auto [y, x] = pairs[i];
        const TypeDifference difference =
            comparer.run(pairs[i], strf("type %u -> type %u", raw(x), raw(y)));
        if (!difference.text.empty())
            return i ? "because of " + diff::type_name(btf_, raw(x)) + " (" + difference.text + ")"
                     : difference.text;
        for (const TypePair &edge : difference.edges)
            if (seen.insert(edge).second)
                pairs.push_back(edge);
    }
    return "nothing differs";
}

} // namespace btflink::kernel
