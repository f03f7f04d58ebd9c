// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Resolves forward declarations that no group of structs has resolved: above all outside of
// structs, as `struct s *` in a function's parameter or in a typedef, in an object that only
// declares `struct s`. If there are several `struct s`, nothing shows which one is meant;
// btf__dedup takes the first that it finds. The choice should leave as few types as possible.
//
// The caller passes only names that have several definitions and that the base does not declare. Of
// these it passes all enums, and the structs and unions of which a struct or typedef of some object
// has resolved at least one use. Other declarations are resolved already, or stay.
//
// Method. One name after the other. The users of a declaration are the pointers, prototypes and
// typedefs that reach it, each given by its key: its class and the final classes to which it refers
// (BetweenKeys). Each candidate is substituted for the declaration in these keys. A user whose key
// then equals that of another type becomes an alias of this type; other users stay, with new keys.
// The candidate with the fewest new keys wins. Of several such candidates, the preferred one wins:
// the type that the name means in a struct or typedef of another object. If the preferred one is
// not among them, the first of them wins, that of the lowest group.
//
// Invariant. All uses of a declaration that are left for this step are resolved to one candidate.
// So each choice reduces the number of classes: the declaration is dropped, and each user becomes
// an alias or keeps its class, with a new key.
//
// Cost. All keys once; keys that reach a declaration to resolve, times its candidates.
#include "merge/dedup/split/split_conflicts.h"

#include "common/io/trace.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace btflink::merge
{

namespace
{

// The limit of users times candidates, for one declaration. In a kernel a declaration has up to
// thousands of users and tens of candidates. If the product is larger, the preferred candidate is
// taken, or the first if none is preferred.
constexpr size_t most_tries = size_t{1} << 22;

/// The place of a class in the order of substitution.
struct Place {
    uint32_t level = 0; // higher than the levels of the classes that its key refers to; 0: no key
    uint32_t key = 0;   // number of its key
    auto operator<=>(const Place &) const = default;
};

struct ForwardResolver {
    BetweenKeys &keys;
    Partition &partition;
    std::unordered_map<ClassId, std::vector<uint32_t>> direct_users = {}; // keys, by class
    IdVector<ClassId, Place> place = {};
    std::unordered_set<uint32_t> replaced = {}; // keys whose words substitution has changed
};

/// The consequences of resolving a declaration to a candidate.
struct Substitution {
    std::unordered_map<ClassId, ClassId> aliases; // of the declaration, and of users
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> new_keys; // of other users
};

void add_as_direct_user(ForwardResolver &r, uint32_t k)
{
    for (uint32_t word : r.keys.keys.at(k).subspan(1))
        r.direct_users[ClassId{word}].push_back(k);
}

/// Sets the places of all classes; at the start each has at most one key. Substitution does not
/// change levels: declarations and candidates have level 0, and a user has the same level as the
/// class of which it becomes an alias.
void set_places(ForwardResolver &r)
{
    r.place.resize(r.partition.classes.size());
    for (uint32_t k = 0; k < r.keys.keys.size(); ++k) {
        Place own{1, k};
        for (uint32_t word : r.keys.keys.at(k).subspan(1))
            if (word < r.place.size()) // other words represent cycles
                own.level = std::max(own.level, r.place[ClassId{word}].level + 1);
        r.place[r.keys.final_class[k]] = own;
    }
}

/// Keys that reach a final class; a key comes after the keys of the classes in it.
std::vector<uint32_t> find_keys_that_reach(const ForwardResolver &r, ClassId c)
{
    std::vector<uint32_t> found;
    std::vector<ClassId> pending{c};
    std::unordered_set<uint32_t> seen;
    while (!pending.empty()) {
        const auto at = r.direct_users.find(pending.back());
        pending.pop_back();
        if (at == r.direct_users.end())
            continue;
        for (uint32_t k : at->second) {
            if (r.replaced.contains(k) || !seen.insert(k).second)
                continue;
            found.push_back(k);
            pending.push_back(r.keys.final_class[k]);
        }
    }
    std::ranges::sort(found, {}, [&](uint32_t k) { return r.place[r.keys.final_class[k]]; });
    return found;
}

Substitution substitute(const ForwardResolver &r, const std::vector<uint32_t> &users,
                        ClassId forward, ClassId candidate)
{
    Substitution out{{{forward, candidate}}, {}};
    VectorIndex added;
    std::vector<uint32_t> key;
    for (uint32_t k : users) {
        const std::span old = r.keys.keys.at(k);
        key.assign(old.begin(), old.end());
        for (uint32_t &word : std::span(key).subspan(1))
            if (auto m = out.aliases.find(ClassId{word}); m != out.aliases.end())
                word = raw(m->second);
        const ClassId own = r.keys.final_class[k];
        const uint32_t found = r.keys.keys.find(key);
        if (found != no_number && r.keys.final_class[found] != own && !r.replaced.contains(found)) {
            out.aliases[own] = r.keys.final_class[found];
            continue;
        }
        auto [number, is_new] = added.add(key);
        if (is_new)
            out.new_keys.emplace_back(k, key);
        else
            out.aliases[own] = r.keys.final_class[out.new_keys[number].first];
    }
    return out;
}

void apply_substitution(ForwardResolver &r, const std::vector<uint32_t> &users,
                        const Substitution &chosen)
{
    for (auto [from, to] : chosen.aliases)
        r.partition.alias[from] = to;
    for (uint32_t k : users) {
        r.replaced.insert(k);
        const ClassId own = r.keys.final_class[k];
        const auto m = chosen.aliases.find(own);
        if (m == chosen.aliases.end())
            continue;
        TypeAt &first = r.partition.classes[m->second].first;
        first = std::min(first, r.partition.classes[own].first);
    }
    for (const auto &[k, key] : chosen.new_keys) {
        auto [number, is_new] = r.keys.keys.add(key);
        if (!is_new) {
            r.replaced.erase(number); // its words did not change
            continue;
        }
        r.keys.final_class.push_back(r.keys.final_class[k]);
        add_as_direct_user(r, number);
    }
}

void resolve_one(ForwardResolver &r, const UnresolvedForward &unresolved)
{
    const std::vector<uint32_t> users = find_keys_that_reach(r, unresolved.forward);
    std::vector<ClassId> candidates = unresolved.candidates;
    if (users.size() * candidates.size() > most_tries)
        candidates = {unresolved.preferred == ClassId::none ? candidates.front()
                                                            : unresolved.preferred};
    std::optional<Substitution> best;
    for (ClassId candidate : candidates) {
        Substitution next = substitute(r, users, unresolved.forward, candidate);
        if (!best || next.new_keys.size() < best->new_keys.size() ||
            (next.new_keys.size() == best->new_keys.size() && candidate == unresolved.preferred))
            best = std::move(next);
    }
    if (best)
        apply_substitution(r, users, *best);
}

} // namespace

void resolve_forwards(const std::vector<UnresolvedForward> &forwards, BetweenKeys &keys,
                      Partition &partition)
{
    trace::Phase phase("resolve_forwards");
    ForwardResolver r{keys, partition};
    set_places(r);
    for (uint32_t k = 0; k < keys.keys.size(); ++k)
        add_as_direct_user(r, k);
    for (const UnresolvedForward &f : forwards)
        resolve_one(r, f);
    partition.shorten_aliases();
}

} // namespace btflink::merge
