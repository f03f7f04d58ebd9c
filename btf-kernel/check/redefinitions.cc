// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Finds out why a module has a type that vmlinux also has, and why one BTF has two types of the
// same name (why_two()).
//
// Problem. Split BTF should refer to types of the base. If a module has its own `struct
// task_struct`, this is a different type for the kernel: programs cannot pass a task of vmlinux's
// type to the module's kfuncs, or a task of the module's type to helpers and to vmlinux's kfuncs.
// One difference anywhere among the types that task_struct reaches is enough for this. Users need
// to know where it is.
//
// Method. Each struct, union and enum of the module is compared with vmlinux's type of the same
// name and kind (ENUM and ENUM64 count as one kind). btf-kernel diff's comparison comes first. Then
// come differences that programs do not see, but deduplication does: the order and nesting of
// members, the order of enumerators, the kind and sign of an enum, the spelling of a number's name.
// If the two types differ, the module's type is a clash. This comparison looks only at the names of
// the types to which the two refer. So these types are compared next, pair by pair, through
// pointers, typedefs and unnamed types. The comparison of such a pair ends in one of three ways:
//  - The two have the same id, or one is void, or they are equal and refer to no types: nothing
//    differs.
//  - The module refers to its own struct, union or enum, and vmlinux to one with the same name: an
//    edge leads to that pair.
//  - They differ, or the module refers to another type of vmlinux with the same name: the module's
//    type from which the comparison began is a clash, too.
// The root of a type is the nearest clash along edges. A type without a root is a copy. why_two()
// compares its two types in the same way, then the pairs along edges, up to the first difference.
//
// Cost. Linear in the module's own types, unless many types have one name or contain one large
// unnamed type.
#include "btf-kernel/check/check_kernel.h"

#include "btf-kernel/diff/compare.h"
#include "btf-kernel/diff/types.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_pairs = 10'000; // pairs that why_two() compares

bool may_be_redefined(const btf_type &t)
{
    const btf::Kind kind = btf::kind_of(t);
    return t.name_off && (btf::is_composite(kind) || btf::is_enum(kind)) && !btf::is_declaration(t);
}

/// Is it the same kind? ENUM and ENUM64 count as one.
bool same_kind(btf::Kind a, btf::Kind b)
{
    return a == b || (btf::is_enum(a) && btf::is_enum(b));
}

/// The names of the type's members, without those inside unnamed members, or of its enumerators.
std::vector<std::string_view> element_names(const Btf &btf, TypeId id)
{
    std::vector<std::string_view> out;
    const btf_type &t = btf.type(id);
    btf::for_each_word(t, [&](btf::Word role, const uint32_t &word) {
        if (role == btf::Word::name && &word != &t.name_off)
            out.push_back(btf.str(word));
    });
    return out;
}

std::string enum_difference(const Btf &btf, TypeId x, TypeId y)
{
    if (btf.kind(x) != btf.kind(y))
        return std::string(btf.kind_name(x)) + " -> " + btf.kind_name(y);
    if (const bool is_signed = btf::kflag_of(btf.type(x)); is_signed != btf::kflag_of(btf.type(y)))
        return is_signed ? "signed -> unsigned" : "unsigned -> signed";
    return element_names(btf, x) == element_names(btf, y) ? "" : "enumerators are in another order";
}

/// Does not look into unnamed members, which are pairs of their own.
std::string member_difference(const Btf &btf, TypeId x, TypeId y)
{
    return element_names(btf, x) == element_names(btf, y)
               ? ""
               : "members are in another order, or nested in another way";
}

/// Compares the names of two numbers; diff::compare_types() compares their sizes and encodings.
std::string number_difference(const Btf &btf, TypeId x, TypeId y)
{
    const std::string_view a = btf.name(x), b = btf.name(y);
    return a == b ? "" : std::string(a) + " -> " + std::string(b);
}

/// A difference between two types that diff::compare_types() does not find, because programs work
/// with both types. Deduplication keeps both. "" if there is none. (Names of parameters are not
/// compared: compilers write none for types of functions.)
std::string unseen_difference(const Btf &btf, TypeId x, TypeId y)
{
    const btf::Family family = btf::kind_info(btf.type(x)).family;
    return family == btf::Family::enumeration ? enum_difference(btf, x, y)
           : family == btf::Family::composite ? member_difference(btf, x, y)
           : family == btf::Family::number    ? number_difference(btf, x, y)
                                              : "";
}

/// Two types that are compared: `own` of the module, `base` of vmlinux; in why_two() both of one
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
    /// `base`: the Side of own's base; null if `own` has no base. `between`: what is compared, for
    /// messages ("vmlinux -> here").
    PairComparer(const diff::Side &own, const diff::Side *base, std::string between)
        : own_(own), base_(base), btf_(*own.btf), between_(std::move(between))
    {
    }

    TypeDifference run(TypePair pair)
    {
        difference_ = {};
        std::vector<TypePair> open{pair};
        std::set<TypePair> seen{pair};
        while (!open.empty() && difference_.text.empty()) {
            const auto [own, base] = open.back();
            open.pop_back();
            compare(own, base, own != pair.own);
            std::vector<TypeId> others;
            btf::for_each_type_id(btf_.type(base),
                                  [&](uint32_t id) { others.push_back(TypeId{id}); });
            size_t i = 0;
            btf::for_each_type_id(btf_.type(own), [&](uint32_t id) {
                if (i < others.size())
                    if (const TypePair next{TypeId{id}, others[i++]};
                        !settle(next) && seen.insert(next).second)
                        open.push_back(next);
            });
        }
        return std::move(difference_);
    }

private:
    void differ(const std::string &what)
    {
        if (difference_.text.empty())
            difference_.text = between_ + ": " + what;
    }

    diff::SideType at(TypeId id) const { return {id < btf_.first_id() ? *base_ : own_, raw(id)}; }

    bool has_name(TypeId id) const
    {
        return btf_.type(id).name_off && btf_.kind(id) != btf::Kind::TYPE_TAG;
    }

    void compare(TypeId own, TypeId base, bool is_inside)
    {
        std::vector<std::string> lines;
        if (has_name(own))
            lines = diff::detail_lines(diff::compare_types(at(base), at(own)));
        const std::string what = lines.empty() ? unseen_difference(btf_, base, own) : lines.front();
        if (!what.empty())
            differ((is_inside ? diff::type_name(btf_, raw(own)) + ": " : "") + what);
    }

    /// `pair`: two types to which the compared types refer at the same place. Without a look at
    /// their contents, records an edge or a difference, or nothing if the two have the same id or
    /// one is void. Returns false if the contents must be compared.
    bool settle(TypePair pair)
    {
        const auto [own, base] = pair;
        if (own == base || own == void_id || base == void_id)
            return true;
        const btf_type &t = btf_.type(own);
        const btf::Kind kind = btf::kind_of(t), other = btf_.kind(base);
        const bool is_declared = btf::is_declaration(t);
        const std::string name = diff::type_name(btf_, raw(own));
        if (is_declared != btf::is_declaration(btf_.type(base))) {
            difference_.declared |= difference_.text.empty();
            differ(name + (is_declared ? " is only declared" : " is defined, not only declared"));
        } else if (!same_kind(kind, other)) {
            differ("refers to a type of another kind");
        } else if (own < btf_.first_id() && has_name(own)) {
            // compare() found equal names here (except for index types of arrays, and spellings of
            // numbers), so there are two types with this name. `own` is in the base; the other one
            // is in the base, too, or (in why_two()) in the split BTF.
            differ("refers to another " + name);
        } else if (may_be_redefined(t)) {
            difference_.edges.push_back(pair);
        } else {
            return false;
        }
        return true;
    }

    const diff::Side &own_, *base_;
    const Btf &btf_; // of own_
    std::string between_;
    TypeDifference difference_;
};

/// A redefinition, and how the module's type differs from vmlinux's.
struct Entry {
    Redefinition result;
    TypeDifference difference;
    size_t root = SIZE_MAX; // index of the clash that makes it differ; SIZE_MAX: none
};

/// The types of the module that have the name and kind of a type of vmlinux, sorted by id.
/// Entry::root is not set yet. If vmlinux has several such types, the first one without a
/// difference counts, or else the first.
std::vector<Entry> compare_all(const diff::Side &module, const diff::Side &vmlinux,
                               const NameIndex &names)
{
    const Btf &split = *module.btf;
    PairComparer comparer(module, &vmlinux, "vmlinux -> here");
    std::vector<Entry> entries;
    for (TypeId id : split.ids()) {
        if (!may_be_redefined(split.type(id)))
            continue;
        std::optional<Entry> best;
        for (TypeId base : names.of(split.name(id))) {
            if (!same_kind(split.kind(base), split.kind(id)) || !may_be_redefined(split.type(base)))
                continue;
            Entry entry{{id, base, {}, {}, {}}, comparer.run({id, base})};
            if (!best || (!best->difference.text.empty() && entry.difference.text.empty()))
                best = std::move(entry);
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
        // An edge leads to the entry of the module's type `id`, even if that type was compared
        // with another type of vmlinux than `base`.
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

std::string why_two(const Btf &btf, TypeId a, TypeId b)
{
    std::optional<diff::Side> base;
    if (btf.base())
        base.emplace(btf.base(), nullptr);
    const std::shared_ptr<const Btf> not_owning(std::shared_ptr<void>(), &btf);
    const diff::Side own(not_owning, base ? &*base : nullptr);
    std::vector<TypePair> pairs{{b, a}};
    std::set<TypePair> seen{{b, a}};
    for (size_t i = 0; i < pairs.size() && i < most_pairs; ++i) {
        const auto [y, x] = pairs[i];
        PairComparer comparer(own, base ? &*base : nullptr,
                              strf("type %u -> type %u", raw(x), raw(y)));
        const TypeDifference difference = comparer.run(pairs[i]);
        if (!difference.text.empty())
            return i ? "because of " + diff::type_name(btf, raw(x)) + " (" + difference.text + ")"
                     : difference.text;
        for (const TypePair &edge : difference.edges)
            if (seen.insert(edge).second)
                pairs.push_back(edge);
    }
    return "nothing differs";
}

} // namespace btflink::kernel
